package org.traceetl.perf.simulate.agent;

import java.util.HexFormat;
import java.util.List;
import org.traceetl.perf.simulate.check.Document;
import org.traceetl.perf.simulate.check.HalfEdge;
import org.traceetl.perf.simulate.check.SeriesKey;

/**
 * A span as it is sent.
 *
 * @param sizeBytes bytes of its message
 * @param document what the index must have; null if it need not have it
 * @param halves what it tells of requests between processes; more than one only with links
 * @param amount its attribute of measures; empty for none
 * @param weight number of spans that it represents: 1 if it was not sampled
 */
public record SentSpan(
    SeriesKey series,
    long traceIdHigh,
    long traceIdLow,
    long spanId,
    long durationNanos,
    long sizeBytes,
    Document document,
    List<HalfEdge> halves,
    String amount,
    long weight) {
  /** The duration from which a span is slow: the server's default. */
  static final long SLOW_NANOS = 1_000_000_000L;

  /** Returns the ID that its document has in the index. */
  public String id() {
    return id(traceIdHigh, traceIdLow, spanId);
  }

  static String id(long traceIdHigh, long traceIdLow, long spanId) {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(traceIdHigh)
        + hex.toHexDigits(traceIdLow)
        + "-"
        + hex.toHexDigits(spanId);
  }
}
