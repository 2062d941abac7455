package org.traceetl.agent.forward;

import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.OtlpFormat;

/**
 * An accepted request on its way to the disk: {@code payload[0, length)}.
 *
 * @param millis when it was accepted, since 1970
 * @param source gets the array back
 */
record QueuedRequest(
    byte[] payload, int length, OtlpFormat format, long millis, Completion source) {
  /** Charged in addition to the array, so that many small requests are bounded too. */
  private static final int OVERHEAD_BYTES = 256;

  int charge() {
    return payload.length + OVERHEAD_BYTES;
  }

  void giveBack() {
    source.released(payload);
  }
}
