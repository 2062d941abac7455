package org.traceetl.agent.source.otlp;

import java.util.concurrent.atomic.LongAdder;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;

/**
 * For simulations: accepts complete OTLP requests in protobuf, as the ports do below gRPC and HTTP.
 * Safe for any thread.
 */
public final class OtlpRequests {
  private final Intake intake;
  private final SpanDecoder decoder = new OtlpProtobufDecoder(new LongAdder());

  /**
   * @param answered the recently answered requests, also of an earlier run; a repeat gets the same
   *     answer
   */
  public OtlpRequests(Intake pipeline, AnsweredRequests answered) {
    intake = new RepeatJoin(pipeline, answered, new LongAdder(), new LongAdder());
  }

  /** Offers a request; see {@link Intake#offer}. */
  public Intake.Admission offer(byte[] payload, Completion completion) {
    return intake.offer("otlp_http", payload, decoder, completion);
  }
}
