package org.traceetl.server.features.why;

import java.time.Duration;
import java.time.Instant;
import org.traceetl.server.config.SpanKind;

/**
 * Which spans are selected, and what they are compared with.
 *
 * @param operation span name in series; null for all
 * @param kind null for all
 * @param failed whether only failed spans are selected
 * @param slowerThanNanos only spans of at least this duration are selected; 0 for all
 * @param from begin of the interval in which brokers stored the spans
 * @param until its end, exclusive
 * @param earlier null: the other spans of the interval are the baseline; else all spans of the
 *     interval that is this much earlier
 */
public record Question(
    String application,
    String operation,
    SpanKind kind,
    boolean failed,
    long slowerThanNanos,
    Instant from,
    Instant until,
    Duration earlier) {
  private static final int ERROR = 2;

  boolean selects(int status, long durationNanos) {
    return (!failed || status == ERROR) && durationNanos >= slowerThanNanos;
  }

  boolean asksFor(String name, int kindOfSpan) {
    return (operation == null || operation.equals(name))
        && (kind == null || kind.ordinal() == kindOfSpan);
  }
}
