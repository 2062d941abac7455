package org.traceetl.agent.flow;

/**
 * Where sources hand payloads to the pipeline. Implementations never block and are safe for any
 * thread.
 */
public interface Intake {
  /** What became of an offer. */
  enum Admission {
    /** Taken: the completion will be called exactly once. */
    ACCEPTED,
    /** Not taken, the bytes in flight or the spool are at their bound: try again later. */
    FULL,
    /** Not taken, the topic's queues were never known: try again later. */
    BROKER_AWAY,
    /** Not taken, the agent is stopping. */
    STOPPING
  }

  /**
   * Offers {@code payload[0, length)}. When accepted, the array belongs to the pipeline until it is
   * {@linkplain Completion#released released}.
   *
   * @param source name for metrics: {@code otlp_grpc}, {@code otlp_http}, {@code file}
   */
  Admission offer(
      String source, byte[] payload, int length, SpanDecoder decoder, Completion completion);

  /** Offers a payload that is the whole array. */
  default Admission offer(
      String source, byte[] payload, SpanDecoder decoder, Completion completion) {
    return offer(source, payload, payload.length, decoder, completion);
  }
}
