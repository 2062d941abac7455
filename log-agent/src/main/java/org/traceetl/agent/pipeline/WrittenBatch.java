package org.traceetl.agent.pipeline;

import org.traceetl.agent.spool.InconsistentBatchException;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.proto.EdgeBatchReader;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/** Reads the head of each batch as the server will. Confined to the pipeline thread. */
final class WrittenBatch {
  private final SpanBatchReader reader = new SpanBatchReader();
  private final EdgeBatchReader edges = new EdgeBatchReader();

  /**
   * Requires that the server can read the batch's head, dictionary included, and finds its name and
   * its number of spans. The spans are not read again.
   *
   * @throws InconsistentBatchException if it cannot
   */
  void requireReadable(byte[] body, AgentIdentity agent, long sequence, int spans) {
    Rejection rejection = reader.wrap(body, 0, body.length);
    boolean isAgent = reader.agentHigh() == agent.high() && reader.agentLow() == agent.low();
    require(
        rejection,
        isAgent && reader.epoch() == agent.epoch(),
        sequence,
        reader.sequence(),
        spans,
        reader.spanCount(),
        "spans");
  }

  /**
   * Requires that the server can read the head of a batch of half-edges, and finds its name and its
   * number of half-edges.
   *
   * @throws InconsistentBatchException if it cannot
   */
  void requireEdgesReadable(byte[] body, AgentIdentity agent, long sequence, int halves) {
    Rejection rejection = edges.wrap(body, 0, body.length);
    boolean isAgent = edges.agentHigh() == agent.high() && edges.agentLow() == agent.low();
    require(
        rejection,
        isAgent && edges.epoch() == agent.epoch(),
        sequence,
        edges.sequence(),
        halves,
        edges.halfCount(),
        "half-edges");
  }

  private static void require(
      Rejection rejection,
      boolean isOfRun,
      long sequence,
      long readSequence,
      int count,
      int readCount,
      String what) {
    if (rejection != Rejection.NONE || !isOfRun || readSequence != sequence || readCount != count) {
      throw new InconsistentBatchException(
          "batch %d of %d %s reads as batch %d of %d of %s run, rejection %s"
              .formatted(
                  sequence,
                  count,
                  what,
                  readSequence,
                  readCount,
                  isOfRun ? "this" : "another",
                  rejection));
    }
  }
}
