package org.traceetl.agent.pipeline;

import org.traceetl.agent.spool.InconsistentBatchException;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/** Reads the head of each batch as the server will. Confined to the pipeline thread. */
final class WrittenBatch {
  private final SpanBatchReader reader = new SpanBatchReader();

  /**
   * Requires that the server can read the batch's head, dictionary included, and finds its name and
   * its number of spans. The spans are not read again.
   *
   * @throws InconsistentBatchException if it cannot
   */
  void requireReadable(byte[] body, AgentIdentity agent, long sequence, int spans) {
    Rejection rejection = reader.wrap(body, 0, body.length);
    if (rejection != Rejection.NONE
        || reader.agentHigh() != agent.high()
        || reader.agentLow() != agent.low()
        || reader.epoch() != agent.epoch()
        || reader.sequence() != sequence
        || reader.spanCount() != spans) {
      throw new InconsistentBatchException(
          "batch %d of %d spans reads as batch %d of %d spans of epoch %d, rejection %s"
              .formatted(
                  sequence,
                  spans,
                  reader.sequence(),
                  reader.spanCount(),
                  reader.epoch(),
                  rejection));
    }
  }
}
