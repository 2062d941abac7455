package org.traceetl.server.features.graph;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.server.features.graph.Growth.Callee;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.Cacheable;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Times;
import org.traceetl.server.minutes.LastHour;

/** Which of an application's callees grew. */
@RestController
final class GrowthResource implements Cacheable {
  private static final int MAX_LIMIT = 1_000;
  private static final long MINUTES = 10;

  private final ServicesResource services;

  GrowthResource(ServicesResource services) {
    this.services = services;
  }

  /** What to rank by. */
  enum Sort {
    CALLS,
    ERRORS,
    LATENCY
  }

  record Callees(
      boolean upToDate,
      Instant from,
      Instant to,
      Instant baselineFrom,
      double load,
      List<Grown> callees) {}

  /** A callee; the fields without {@code baseline} are those of the minutes asked about. */
  record Grown(
      String server,
      String connection,
      double callsPerSecond,
      double baselineCallsPerSecond,
      double errorRatio,
      double baselineErrorRatio,
      Durations clientMs,
      Durations baselineClientMs,
      double moreCallsPerSecond,
      double moreErrorsPerSecond,
      double moreMillisPerSecond) {
    static Grown of(Callee callee, Growth growth, double[] boundsMillis) {
      EdgeName name = callee.name();
      return new Grown(
          name.server(),
          name.connection() == Connection.NONE ? null : name.connection().label(),
          growth.perSecond(callee),
          growth.baselinePerSecond(callee),
          Growth.errorRatio(callee.sums()),
          Growth.errorRatio(callee.baseline()),
          callee.sums().atClient(boundsMillis),
          callee.baseline().atClient(boundsMillis),
          growth.moreCalls(callee),
          growth.moreErrors(callee),
          growth.moreMillis(callee, boundsMillis));
    }

    double by(Sort sort) {
      return switch (sort) {
        case CALLS -> moreCallsPerSecond;
        case ERRORS -> moreErrorsPerSecond;
        case LATENCY -> moreMillisPerSecond;
      };
    }
  }

  @Override
  public String tag() {
    return services.tag();
  }

  /** Lists the callees that grew in these minutes against the earlier ones of the last hour. */
  @GetMapping("/api/services/growth")
  Callees growth(
      @RequestParam @Allowed(max = Allowed.NAME) String application,
      @RequestParam(required = false) String from,
      @RequestParam(required = false) String to,
      @RequestParam(required = false) Sort sort,
      @RequestParam(defaultValue = "10") @Allowed(max = MAX_LIMIT) int limit,
      Access access) {
    ServiceGraph graph = services.graph();
    long toMillis = millis("to", to, graph.nowMillis());
    long fromMillis = millis("from", from, toMillis - MINUTES * LastHour.MINUTE_MILLIS);
    if (fromMillis >= toMillis) {
      throw new ParameterRefused(
          "from = " + from + ": must be before to = " + Instant.ofEpochMilli(toMillis));
    }
    Growth growth =
        graph
            .growth(
                // A name that the sender may not see is not looked up.
                access.sees(application) ? application : "",
                LastHour.minute(fromMillis + LastHour.MINUTE_MILLIS - 1),
                LastHour.minute(toMillis))
            .visible(application, access);
    Sort by = sort == null ? Sort.LATENCY : sort;
    return new Callees(
        graph.isUpToDate(),
        Instant.ofEpochMilli(growth.fromMillis()),
        Instant.ofEpochMilli(growth.toMillis()),
        Instant.ofEpochMilli(growth.baselineFromMillis()),
        growth.load(),
        growth.observedMillis() == 0 || growth.baselineMillis() == 0
            ? List.of()
            : growth.callees().stream()
                .map(callee -> Grown.of(callee, growth, graph.boundsMillis()))
                .filter(callee -> callee.by(by) > 0)
                .sorted(
                    Comparator.<Grown>comparingDouble(callee -> -callee.by(by))
                        .thenComparing(
                            Grown::server, Comparator.nullsLast(Comparator.naturalOrder()))
                        .thenComparing(
                            Grown::connection, Comparator.nullsFirst(Comparator.naturalOrder())))
                .limit(limit)
                .toList());
  }

  private static long millis(String name, String text, long otherwise) {
    return TimeUnit.NANOSECONDS.toMillis(
        Times.unixNanos(name, text, TimeUnit.MILLISECONDS.toNanos(otherwise)));
  }
}
