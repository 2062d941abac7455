package org.traceetl.agent.config;

/**
 * Bounds of what is under way between the sources and the broker, and what of spans is.
 *
 * @param maxBytesInFlight bytes of payloads accepted and not yet in the spool; above it sources are
 *     told to wait. As much again bounds OTLP requests being read, and the batches in memory
 * @param batchBytes size of a batch's spans at which it is closed, bytes; it ends at most one span
 *     above it, and its resource comes on top
 * @param batchSpans number of spans at which a batch is closed; a group of spans that are only
 *     counted is one
 * @param lingerMillis longest time that a span waits for others in its batch
 * @param openBatches batches filled at the same time; one more closes the oldest
 * @param events what is sent of spans' events
 */
public record PipelineConfig(
    int maxBytesInFlight,
    int batchBytes,
    int batchSpans,
    int lingerMillis,
    int openBatches,
    EventsConfig events) {
  /** With the events that are sent by default. */
  public PipelineConfig(
      int maxBytesInFlight, int batchBytes, int batchSpans, int lingerMillis, int openBatches) {
    this(
        maxBytesInFlight,
        batchBytes,
        batchSpans,
        lingerMillis,
        openBatches,
        EventsConfig.defaults());
  }

  /** 64 MiB under way; batches of 64 KiB, 1,024 spans or 20 ms; 128 of them open. */
  public static PipelineConfig defaults() {
    return new PipelineConfig(64 * 1024 * 1024, 64 * 1024, 1024, 20, 128);
  }

  /**
   * What is kept at most to fill a batch anew, bytes: its strings, what they are found by, its
   * spans and its message, in arrays that double. Usual ones hold five times their size.
   */
  public long mostHeldByBatch() {
    return 6L * batchBytes + 64 * 1024;
  }
}
