package org.traceetl.agent.config;

/**
 * Bounds between the sources and the broker, and the events that are sent.
 *
 * @param maxBytesInFlight bytes of payloads accepted and not yet in the spool; above it, sources
 *     wait; 16 MiB to 2 GiB. The same bound applies separately to OTLP requests being read and to
 *     batches in memory; other batches are read from the spool when they are sent
 * @param batchBytes size of the spans at which a batch is closed; 1 KiB to 1 MiB. It may exceed
 *     this by one span, and its resource is added
 * @param batchSpans number of spans at which a batch is closed; 1 to 16384. A group of measured
 *     spans counts as one, and each of them as 10 bytes
 * @param lingerMillis longest time that a payload waits to be written to the spool together with
 *     others; 0 to 10000
 * @param openBatches batches filled at the same time; one more closes the oldest; 1 to 4096
 * @param events the events of spans that are sent
 */
public record PipelineConfig(
    int maxBytesInFlight,
    int batchBytes,
    int batchSpans,
    int lingerMillis,
    int openBatches,
    CountedEventsConfig events) {
  /** Creates a configuration with the default events. */
  public PipelineConfig(
      int maxBytesInFlight, int batchBytes, int batchSpans, int lingerMillis, int openBatches) {
    this(
        maxBytesInFlight,
        batchBytes,
        batchSpans,
        lingerMillis,
        openBatches,
        CountedEventsConfig.defaults());
  }

  /** Returns 64 MiB in flight; batches of 64 KiB, 1,024 spans or 20 ms; 128 of them open. */
  public static PipelineConfig defaults() {
    return new PipelineConfig(64 * 1024 * 1024, 64 * 1024, 1024, 20, 128);
  }

  /**
   * Returns the most bytes that a batch keeps when it is reused: its strings and their index, its
   * spans and its message, in arrays that double. A typical batch keeps five times its size.
   */
  public long mostHeldByBatch() {
    return 6L * batchBytes + 64 * 1024;
  }
}
