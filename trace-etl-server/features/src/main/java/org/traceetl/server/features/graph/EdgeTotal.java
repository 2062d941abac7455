package org.traceetl.server.features.graph;

import org.traceetl.server.edge.EdgeMeasure;

/**
 * An edge in some minutes.
 *
 * @param name the rest of a client has its requests above a limit
 * @param requests above 0
 * @param failed 0 to {@code requests}
 * @param p95Millis {@link EdgeSums#p95Millis}
 * @param sums all of its numbers; must not be written
 */
record EdgeTotal(EdgeName name, long requests, long failed, double p95Millis, EdgeSums sums) {
  static EdgeTotal of(EdgeName name, EdgeSums sums, double[] boundsMillis) {
    long requests = sums.count(EdgeMeasure.REQUESTS);
    return new EdgeTotal(
        name,
        requests,
        // Counts of sampled requests are rounded, each measure on its own.
        Math.min(requests, sums.count(EdgeMeasure.FAILED)),
        sums.p95Millis(boundsMillis),
        sums);
  }

  /** Returns failed requests divided by all. */
  double errorRatio() {
    return (double) failed / requests;
  }

  /** Returns whether the client sends spans; {@code user} does not. */
  boolean clientSends() {
    return sums.count(EdgeMeasure.CLIENT) > 0;
  }
}
