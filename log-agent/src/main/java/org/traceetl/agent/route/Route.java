package org.traceetl.agent.route;

import java.util.Arrays;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.NameRules;

/** The candidate queues of one application under one topology. Immutable. */
public final class Route {
  private final long application;
  private final Spread spread;

  /** Null if the application has none. */
  private final NameRules learnt;

  private final BrokerQueue[] queues;
  private final long[] hashes;

  /**
   * Selects the candidates.
   *
   * @param application hash of the application's name, see {@link RouteHash}
   * @param candidates number of candidates, at least 1; if there are fewer queues, all are
   *     candidates
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

  /** Returns the number of candidates. */
  public int size() {
    return queues.length;
  }

  /** Returns candidate {@code i}, in descending order of weight. */
  public BrokerQueue queue(int i) {
    return queues[i];
  }

  /** Returns whether equal names, kinds and statuses have one candidate. */
  public boolean isBySeries() {
    return hashes.length == 1 || spread == Spread.SERIES;
  }

  /**
   * Returns the index of the span's candidate.
   *
   * @param seriesHash of the calling thread, with no entries from an earlier router
   */
  public int candidate(SpanView span, SeriesHash seriesHash) {
    if (hashes.length == 1) {
      return 0;
    }
    long series =
        spread == Spread.SERIES ? series(span, seriesHash) : span.spanId ^ span.traceIdLow;
    return RouteHash.heaviest(series, hashes);
  }

  /**
   * Returns the hash of the series of the span whose {@link #candidate} was determined last, see
   * {@link RouteHash}.
   *
   * @param seriesHash of the same call
   */
  public long seriesOfLast(SpanView span, SeriesHash seriesHash) {
    return hashes.length > 1 && spread == Spread.SERIES
        ? seriesHash.last()
        : series(span, seriesHash);
  }

  private long series(SpanView span, SeriesHash seriesHash) {
    return seriesHash.of(application, learnt, span);
  }
}
