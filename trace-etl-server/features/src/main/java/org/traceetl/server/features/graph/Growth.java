package org.traceetl.server.features.graph;

import java.util.List;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.http.Access;

/**
 * How the requests of an application to others grew, from the baseline to the minutes that are
 * asked about. The counts are exact, and no difference is tested: load varies by itself.
 *
 * @param fromMillis begin of the minutes, milliseconds since 1970
 * @param toMillis their end
 * @param baselineFromMillis begin of the baseline, which ends where they begin
 * @param observedMillis part of the minutes after the first requests of the fleet
 * @param baselineMillis the same of the baseline
 * @param load requests to the application per second, divided by those in the baseline; 1 if either
 *     has none
 * @param callees in no order
 */
record Growth(
    long fromMillis,
    long toMillis,
    long baselineFromMillis,
    long observedMillis,
    long baselineMillis,
    double load,
    List<Callee> callees) {
  private static final double MILLIS_PER_SECOND = 1e3;

  /** An edge of the application in the minutes and in the baseline. */
  record Callee(EdgeName name, EdgeSums sums, EdgeSums baseline) {}

  /** Returns the load of these sums. */
  static double load(EdgeSums sums, EdgeSums baseline, long observedMillis, long baselineMillis) {
    double now = perSecond(sums.count(EdgeMeasure.REQUESTS), observedMillis);
    double before = perSecond(baseline.count(EdgeMeasure.REQUESTS), baselineMillis);
    return now == 0 || before == 0 ? 1 : now / before;
  }

  /** Returns what the sender of a request may see: of a hidden application, no request. */
  Growth visible(String application, Access access) {
    if (access.isToAll()) {
      return this;
    }
    boolean isSeen = access.sees(application);
    return new Growth(
        fromMillis,
        toMillis,
        baselineFromMillis,
        observedMillis,
        baselineMillis,
        isSeen ? load : 1,
        callees.stream().filter(callee -> isSeen && callee.name.isVisible(access)).toList());
  }

  static double perSecond(long count, long millis) {
    return millis == 0 ? 0 : count / (millis / MILLIS_PER_SECOND);
  }

  double perSecond(Callee callee) {
    return perSecond(callee.sums.count(EdgeMeasure.REQUESTS), observedMillis);
  }

  double baselinePerSecond(Callee callee) {
    return perSecond(callee.baseline.count(EdgeMeasure.REQUESTS), baselineMillis);
  }

  /** Returns the requests per second beyond those that the load of the application explains. */
  double moreCalls(Callee callee) {
    return perSecond(callee) - baselinePerSecond(callee) * load;
  }

  /** Returns the failed requests per second beyond the error ratio of the baseline. */
  double moreErrors(Callee callee) {
    return perSecond(callee) * (errorRatio(callee.sums) - errorRatio(callee.baseline));
  }

  /**
   * Returns the time per second that all requests take beyond their mean duration in the baseline,
   * in milliseconds; 0 if either duration is unknown. All time of a new callee is more.
   */
  double moreMillis(Callee callee, double[] boundsMillis) {
    double mean = callee.sums.meanMillis(boundsMillis);
    double before =
        callee.baseline.count(EdgeMeasure.REQUESTS) == 0
            ? 0
            : callee.baseline.meanMillis(boundsMillis);
    double more = perSecond(callee) * (mean - before);
    return Double.isNaN(more) ? 0 : more;
  }

  /** Returns failed requests divided by all; 0 without requests. */
  static double errorRatio(EdgeSums sums) {
    long requests = sums.count(EdgeMeasure.REQUESTS);
    return requests == 0
        ? 0
        : (double) Math.min(requests, sums.count(EdgeMeasure.FAILED)) / requests;
  }
}
