package org.traceetl.agent.flow;

/** Accepts payloads from sources. Implementations never block and are safe for any thread. */
public interface Intake {
  /** The outcome of an offer. */
  enum Admission {
    /** Accepted; the completion is called exactly once. */
    ACCEPTED,
    /** Refused, because the bytes in flight or the spool are at their limit; retry later. */
    FULL,
    /** Refused, because the topic's queues are not known yet; retry later. */
    BROKER_AWAY,
    /** Refused, because the agent stops. */
    STOPPING
  }

  /**
   * Offers {@code payload[0, length)}. If it is accepted, the pipeline owns the array until it is
   * {@linkplain Completion#released released}.
   *
   * @param source name for metrics: {@code otlp_grpc}, {@code otlp_http}, {@code file}
   */
  Admission offer(
      String source, byte[] payload, int length, SpanDecoder decoder, Completion completion);

  /**
   * Counts a span that the source rejects before it offers a payload with it.
   *
   * @param reason see {@link SpanSink#rejected}
   */
  default void reject(String source, String reason) {}

  /** Offers a payload that is the whole array. */
  default Admission offer(
      String source, byte[] payload, SpanDecoder decoder, Completion completion) {
    return offer(source, payload, payload.length, decoder, completion);
  }
}
