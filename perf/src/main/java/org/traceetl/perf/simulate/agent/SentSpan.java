package org.traceetl.perf.simulate.agent;

import java.util.HexFormat;
import org.traceetl.perf.simulate.check.SeriesKey;

/**
 * A span as it is sent.
 *
 * @param document its name in the index; null if the index need not have it
 */
public record SentSpan(
    SeriesKey series,
    long traceIdHigh,
    long traceIdLow,
    long spanId,
    long durationNanos,
    String document) {
  /** The duration from which a span is slow: the server's default. */
  static final long SLOW_NANOS = 1_000_000_000L;

  /** Returns the name of a document in the index. */
  static String document(long traceIdHigh, long traceIdLow, long spanId) {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(traceIdHigh)
        + hex.toHexDigits(traceIdLow)
        + "-"
        + hex.toHexDigits(spanId);
  }
}
