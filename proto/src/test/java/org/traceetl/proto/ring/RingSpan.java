package org.traceetl.proto.ring;

import java.util.List;
import java.util.Map;

/**
 * A span as a test has it.
 *
 * @param samplingThreshold 0 for none
 * @param randomness -1 for none
 * @param statusMessage empty for none
 * @param attributes values are String, Boolean, Long, Double, {@link Json} or {@link Base64}
 * @param links at most 255
 */
public record RingSpan(
    long traceIdHigh,
    long traceIdLow,
    long spanId,
    long parentSpanId,
    long startUnixNanos,
    long durationNanos,
    int kind,
    int status,
    long samplingThreshold,
    long randomness,
    String name,
    String statusMessage,
    Map<String, Object> attributes,
    List<Event> events,
    List<Link> links) {

  /** An array or a map. */
  public record Json(String text) {}

  /** Bytes. */
  public record Base64(String text) {}

  /**
   * What happened at a moment of a span.
   *
   * @param offsetNanos after the span's start
   */
  public record Event(String name, long offsetNanos, Map<String, Object> attributes) {}

  /** A link to another span. */
  public record Link(long traceIdHigh, long traceIdLow, long spanId) {}

  /** A span without links. */
  public RingSpan(
      long traceIdHigh,
      long traceIdLow,
      long spanId,
      long parentSpanId,
      long startUnixNanos,
      long durationNanos,
      int kind,
      int status,
      long samplingThreshold,
      long randomness,
      String name,
      String statusMessage,
      Map<String, Object> attributes,
      List<Event> events) {
    this(
        traceIdHigh,
        traceIdLow,
        spanId,
        parentSpanId,
        startUnixNanos,
        durationNanos,
        kind,
        status,
        samplingThreshold,
        randomness,
        name,
        statusMessage,
        attributes,
        events,
        List.of());
  }

  /** A plain one: its IDs, start and duration are made of the number, which is above 0. */
  public static RingSpan numbered(long number) {
    return new RingSpan(
        0x0af7_6519_16cd_43ddL,
        number,
        number,
        0,
        1_795_255_028_000_000_000L + number,
        1_000 + number,
        2,
        0,
        0,
        -1,
        "GET /" + number % 5,
        "",
        Map.of("http.response.status_code", 200L),
        List.of());
  }
}
