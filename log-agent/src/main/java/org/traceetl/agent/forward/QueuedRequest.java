package org.traceetl.agent.forward;

import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.otlp.SpanEncoder;

/**
 * An accepted payload on its way to the disk: {@code payload[0, length)}.
 *
 * @param source its name for metrics
 * @param format of a payload that is a trace request; else null
 * @param encoder of a payload that is not; else null
 * @param millis when it was accepted, since 1970
 * @param completion gets the array back
 */
record QueuedRequest(
    String source,
    byte[] payload,
    int length,
    OtlpFormat format,
    SpanEncoder encoder,
    long millis,
    Completion completion) {
  /** Charged in addition to the array, so that many small requests are bounded too. */
  private static final int OVERHEAD_BYTES = 256;

  int charge() {
    return payload.length + OVERHEAD_BYTES + (encoder == null ? 0 : encoder.heldBytes());
  }

  void giveBack() {
    completion.released(payload);
  }
}
