package org.traceetl.perf.systest.chaos;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Generates spans of several services: most are ordinary, one in fifty failed, one in a hundred is
 * slow. One service has half of all spans, and the service changes every 30 seconds. Every 15
 * seconds one attribute of all spans changes its value, unless there is only one interval. Each
 * interval thus has its own series, and a later double cannot hide a loss. Series of past intervals
 * stay on the pages: few operations keep the pages of a long run small. Confined to one thread.
 */
final class Traffic {
  private static final int SERVER = 2;
  private static final int ERRORS_PER_MILLE = 20;
  private static final int SLOW_PER_MILLE = 10;
  private static final long HOT_MILLIS = 30_000;
  private static final long INTERVAL_MILLIS = 15_000;

  enum Intervals {
    OF_15_SECONDS,
    /** For charts: series last as long as the run. */
    ONE
  }

  private record Operation(String name, int kind) {}

  private static final List<Operation> OPERATIONS =
      List.of(
          new Operation("GET /items/{id}", 2),
          new Operation("SELECT items", 3),
          new Operation("orders send", 4));

  private final SplittableRandom random;
  private final List<String> services;
  private final Intervals intervals;

  /** Null if spans have no parents. */
  private final Calls calls;

  Traffic(SplittableRandom random, List<String> services, Intervals intervals) {
    this(random, services, intervals, null);
  }

  /**
   * @param calls of all services, which servers' spans answer; null if spans have no parents
   */
  Traffic(SplittableRandom random, List<String> services, Intervals intervals, Calls calls) {
    this.random = random;
    this.services = List.copyOf(services);
    this.intervals = intervals;
    this.calls = calls;
  }

  /** Returns spans that ended just now. */
  List<SentSpan> next(int spans) {
    List<SentSpan> made = new ArrayList<>(spans);
    String service = service();
    for (int i = 0; i < spans; i++) {
      SentSpan span = span(service);
      made.add(calls == null ? span : joined(span));
    }
    return made;
  }

  /** Returns the span, as the answer to a call if it is a server's and one waits. */
  private SentSpan joined(SentSpan span) {
    calls.made(span);
    SentSpan call = span.kind() == SERVER && random.nextInt(3) > 0 ? calls.next() : null;
    return call == null ? span : span.answering(call);
  }

  private String service() {
    long hot = System.currentTimeMillis() / HOT_MILLIS % services.size();
    return services.get(random.nextBoolean() ? (int) hot : random.nextInt(services.size()));
  }

  private SentSpan span(String service) {
    Operation operation = OPERATIONS.get(random.nextInt(OPERATIONS.size()));
    int status =
        random.nextInt(1_000) < ERRORS_PER_MILLE ? SentSpan.ERROR : operation.kind == 2 ? 1 : 0;
    long durationNanos =
        random.nextInt(1_000) < SLOW_PER_MILLE
            ? random.nextLong(SentSpan.SLOW_NANOS, 4 * SentSpan.SLOW_NANOS)
            : random.nextLong(SentSpan.SLOW_NANOS / 2);
    long endUnixNanos = System.currentTimeMillis() * 1_000_000;
    HexFormat hex = HexFormat.of();
    return new SentSpan(
        hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong() | 1),
        hex.toHexDigits(random.nextLong() | 1),
        service,
        operation.name,
        operation.kind,
        status,
        interval(endUnixNanos / 1_000_000),
        endUnixNanos - durationNanos,
        durationNanos);
  }

  private String interval(long millis) {
    return intervals == Intervals.ONE
        ? "all"
        : "from " + millis / INTERVAL_MILLIS * INTERVAL_MILLIS;
  }
}
