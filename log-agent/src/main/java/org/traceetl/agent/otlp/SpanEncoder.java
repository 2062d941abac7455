package org.traceetl.agent.otlp;

/**
 * Encodes the spans of a payload as OTLP, after the pipeline has stored them, and on another
 * thread. All encoders of an agent are used by one thread.
 */
public interface SpanEncoder {
  /** Writes the spans of {@code payload[0, length)}. Keeps no reference to it. */
  void encode(byte[] payload, int length, OtlpWriter to);

  /**
   * Returns the number of spans that {@link #encode} writes or leaves out. Safe for any thread, and
   * cheaper than encoding.
   */
  int spans(byte[] payload, int length);

  /** Returns the bytes that the encoder keeps in memory, in addition to the payload. */
  default int heldBytes() {
    return 0;
  }
}
