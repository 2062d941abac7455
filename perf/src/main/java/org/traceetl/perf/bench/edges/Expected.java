package org.traceetl.perf.bench.edges;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The graphs that trace-etl and one Collector must show of the same spans, and the rules by which
 * they differ. The Collector is expected to keep each span long enough.
 */
public final class Expected {
  private final Graph ours = new Graph();
  private final Graph collectors = new Graph();
  private final Map<Edge, Set<Rule>> rules = new TreeMap<>();
  private long unpaired;

  /** Expects a request on the same edge of both. */
  void same(Edge edge, Request request) {
    ours.add(edge, request);
    collectors.add(edge, request);
  }

  /** Expects a request that only trace-etl counts. */
  void onlyOurs(Rule rule, Edge edge, Request request) {
    ours.add(edge, request);
    note(edge, rule);
  }

  /** Expects a request that only the Collector counts. */
  void onlyCollectors(Rule rule, Edge edge, Request request) {
    collectors.add(edge, request);
    note(edge, rule);
  }

  /** Expects a request that both count, with other values. */
  void differs(Rule rule, Edge edge, Request our, Request their) {
    onlyOurs(rule, edge, our);
    onlyCollectors(rule, edge, their);
  }

  private void note(Edge edge, Rule rule) {
    rules.computeIfAbsent(edge, any -> EnumSet.noneOf(Rule.class)).add(rule);
  }

  /** Expects a span that trace-etl counts as unpaired. */
  void unpaired() {
    unpaired++;
  }

  public Graph ours() {
    return ours;
  }

  /** Returns the graph of a Collector that gets all spans. */
  public Graph collectors() {
    return collectors;
  }

  /** Returns the spans that trace-etl counts as unpaired. */
  public long unpairedSpans() {
    return unpaired;
  }

  /** Returns the rules by which an edge differs. */
  public Set<Rule> rules(Edge edge) {
    return rules.getOrDefault(edge, Set.of());
  }
}
