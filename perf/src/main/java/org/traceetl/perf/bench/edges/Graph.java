package org.traceetl.perf.bench.edges;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.traceetl.testkit.PageSample;

/** A service graph: what is counted of each edge. */
public final class Graph {
  private static final String PREFIX = "traces_service_graph_request_";
  private static final Tally NOTHING = new Tally();

  private final SortedMap<Edge, Tally> edges = new TreeMap<>();

  /** Creates a graph without edges. */
  public Graph() {}

  /** Returns the sum of a page's series by client, server and connection type. */
  public static Graph of(List<PageSample> page) {
    Graph graph = new Graph();
    page.stream().filter(sample -> sample.name().startsWith(PREFIX)).forEach(graph::add);
    return graph;
  }

  /** Returns the sum of graphs. */
  public static Graph sum(Collection<Graph> graphs) {
    Graph sum = new Graph();
    graphs.forEach(graph -> graph.edges.forEach((edge, tally) -> sum.tally(edge).add(tally)));
    return sum;
  }

  private void add(PageSample sample) {
    SortedMap<String, String> labels = sample.labels();
    Tally tally =
        tally(
            new Edge(
                labels.getOrDefault("client", ""),
                labels.getOrDefault("server", ""),
                labels.getOrDefault("connection_type", Edge.CALL)));
    double value = sample.value();
    switch (sample.name().substring(PREFIX.length())) {
      case "total" -> tally.addRequests((long) value);
      case "failed_total" -> tally.addFailed((long) value);
      case "server_seconds_bucket" -> tally.server().bucket(bound(labels), (long) value);
      case "client_seconds_bucket" -> tally.client().bucket(bound(labels), (long) value);
      case "server_seconds_sum" -> tally.server().sum(value);
      case "client_seconds_sum" -> tally.client().sum(value);
      default -> {} // the count is the last bucket; only one of the systems has the others
    }
  }

  private static double bound(SortedMap<String, String> labels) {
    return Double.parseDouble(labels.get("le").replace("Inf", "Infinity"));
  }

  void add(Edge edge, Request request) {
    tally(edge).add(request);
  }

  private Tally tally(Edge edge) {
    return edges.computeIfAbsent(edge, any -> new Tally());
  }

  /** Returns what is counted of an edge. */
  public Tally of(Edge edge) {
    return edges.getOrDefault(edge, NOTHING);
  }

  public Set<Edge> edges() {
    return edges.keySet();
  }

  public long requests(Predicate<Edge> which) {
    return edges.keySet().stream().filter(which).mapToLong(edge -> of(edge).requests()).sum();
  }

  /** Returns how many of its requests another graph has on the same edges. */
  public long requestsIn(Graph other, Predicate<Edge> which) {
    return edges.keySet().stream()
        .filter(which)
        .mapToLong(edge -> Math.min(of(edge).requests(), other.of(edge).requests()))
        .sum();
  }

  /** Returns whether all edges are equal. */
  public boolean equal(Graph other) {
    return edges.keySet().equals(other.edges.keySet())
        && edges.keySet().stream().allMatch(edge -> of(edge).equal(other.of(edge)));
  }
}
