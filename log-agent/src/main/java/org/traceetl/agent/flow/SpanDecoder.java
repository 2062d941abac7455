package org.traceetl.agent.flow;

import java.net.InetAddress;
import org.traceetl.agent.otlp.SpanEncoder;

/**
 * Walks a payload's bytes and passes its spans to a sink, without an object per span. An instance
 * is used by one thread at a time and keeps its buffers between payloads.
 */
public interface SpanDecoder {
  /**
   * Decodes {@code payload[0, length)}. Keeps no reference to it.
   *
   * @throws MalformedPayloadException if it cannot be decoded. Decoders check the outer structure
   *     before they emit the first span.
   */
  void decode(byte[] payload, int length, SpanSink sink) throws MalformedPayloadException;

  /**
   * Returns whether spans may have waited for the agent. Then their batches are dated at the end of
   * their last span, else when the agent accepts them.
   */
  default boolean mayHaveWaited() {
    return false;
  }

  /** Returns the encoding if payloads are OTLP trace requests; else null. */
  default OtlpFormat otlpFormat() {
    return null;
  }

  /**
   * Returns what encodes the spans of the current payload as OTLP; null if they cannot be, or
   * {@link #otlpFormat} is not null.
   */
  default SpanEncoder encoder() {
    return null;
  }

  /** Returns the address of the sender of the payload that is decoded; null if it has none. */
  default InetAddress sender() {
    return null;
  }

  /** Decodes a payload that is the whole array. */
  default void decode(byte[] payload, SpanSink sink) throws MalformedPayloadException {
    decode(payload, payload.length, sink);
  }
}
