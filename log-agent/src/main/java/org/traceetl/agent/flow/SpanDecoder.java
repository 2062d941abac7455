package org.traceetl.agent.flow;

/**
 * Walks a payload's bytes and gives its spans to a sink, without an object per span. One instance
 * belongs to one pipeline thread at a time and keeps its scratch between payloads.
 */
public interface SpanDecoder {
  /**
   * Decodes {@code payload[0, length)}. Holds on to none of it afterwards.
   *
   * @throws MalformedPayloadException when it cannot be read as a whole. Callers decode in two
   *     passes where a half-read payload must not count: decoders check the outer structure before
   *     they emit the first span.
   */
  void decode(byte[] payload, int length, SpanSink sink) throws MalformedPayloadException;

  /** Decodes a payload that is the whole array. */
  default void decode(byte[] payload, SpanSink sink) throws MalformedPayloadException {
    decode(payload, payload.length, sink);
  }
}
