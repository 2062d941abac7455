package org.traceetl.agent.route;

import java.util.Arrays;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.NameRules;

/** Where one application's spans go under one topology. Immutable. */
public final class Route {
  private final long application;
  private final Spread spread;

  /** Null for none. */
  private final NameRules learnt;

  private final BrokerQueue[] queues;
  private final long[] hashes;

  /**
   * Picks the candidates.
   *
   * @param application hash of the application's name, see {@link RouteHash}
   * @param candidates how many, at least 1; all queues when there are fewer
   * @param learnt rules for the application's span names; null for none
   */
  Route(long application, Topology topology, int candidates, Spread spread, NameRules learnt) {
    this.application = application;
    this.spread = spread;
    this.learnt = learnt;
    int total = topology.queues().size();
    Integer[] byWeight = new Integer[total];
    Arrays.setAll(byWeight, i -> i);
    Arrays.sort(
        byWeight,
        (a, b) ->
            Long.compareUnsigned(
                RouteHash.weight(application, topology.hash(b)),
                RouteHash.weight(application, topology.hash(a))));
    int size = Math.min(candidates, total);
    queues = new BrokerQueue[size];
    hashes = new long[size];
    for (int i = 0; i < size; i++) {
      queues[i] = topology.queues().get(byWeight[i]);
      hashes[i] = topology.hash(byWeight[i]);
    }
  }

  /** Number of candidates. */
  public int size() {
    return queues.length;
  }

  /** Candidate {@code i}, the heaviest first. */
  public BrokerQueue queue(int i) {
    return queues[i];
  }

  /**
   * Index of the candidate that the span goes to.
   *
   * @param seriesHash of the calling thread, that remembers nothing of routers before this route's
   */
  public int candidate(SpanView span, SeriesHash seriesHash) {
    if (hashes.length == 1) {
      return 0;
    }
    long series =
        spread == Spread.SERIES
            ? seriesHash.of(application, learnt, span)
            : span.spanId ^ span.traceIdLow;
    int heaviest = 0;
    long heaviestWeight = RouteHash.weight(series, hashes[0]);
    for (int i = 1; i < hashes.length; i++) {
      long weight = RouteHash.weight(series, hashes[i]);
      if (Long.compareUnsigned(weight, heaviestWeight) > 0) {
        heaviest = i;
        heaviestWeight = weight;
      }
    }
    return heaviest;
  }
}
