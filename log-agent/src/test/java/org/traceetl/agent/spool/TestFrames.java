package org.traceetl.agent.spool;

import java.util.List;
import org.traceetl.agent.route.BrokerQueue;

/** Access to the batches of a frame. */
public final class TestFrames {
  private TestFrames() {}

  /** Returns the messages of the batches, in their order. */
  public static List<byte[]> bodies(Frame frame) {
    return frame.batches().stream().map(SpooledBatch::body).toList();
  }

  /** Returns the queues of the batches, in their order. */
  public static List<BrokerQueue> queues(Frame frame) {
    return frame.batches().stream().map(SpooledBatch::queue).toList();
  }

  /** Returns the dates of the batches, in their order. */
  public static List<Long> createdMillis(Frame frame) {
    return frame.batches().stream().map(SpooledBatch::createdMillis).toList();
  }

  /** Returns the numbers of spans of the batches, in their order. */
  public static List<Integer> spans(Frame frame) {
    return frame.batches().stream().map(SpooledBatch::spans).toList();
  }
}
