package org.traceetl.server.features.push;

import org.traceetl.server.window.TraceDocument;

/**
 * An exemplar of a sample.
 *
 * @param bucket the bucket of its duration
 * @param millis end of the span, milliseconds since 1970
 */
record SampleExemplar(
    int bucket, long traceHigh, long traceLow, long spanId, long durationNanos, long millis) {
  private static final long NANOS_PER_MILLI = 1_000_000;

  static SampleExemplar of(TraceDocument document, int bucket) {
    return new SampleExemplar(
        bucket,
        Long.parseUnsignedLong(document.traceId(), 0, 16, 16),
        Long.parseUnsignedLong(document.traceId(), 16, 32, 16),
        Long.parseUnsignedLong(document.spanId(), 0, 16, 16),
        document.durationNanos(),
        // Both values come from a client: a start may be before 1970, and the sum may overflow.
        Math.max(0, document.startUnixNanos()) / NANOS_PER_MILLI
            + document.durationNanos() / NANOS_PER_MILLI);
  }
}
