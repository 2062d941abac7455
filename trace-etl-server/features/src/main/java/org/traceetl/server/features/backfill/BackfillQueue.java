package org.traceetl.server.features.backfill;

import java.io.IOException;
import org.apache.rocketmq.common.message.MessageExt;
import org.traceetl.server.consume.queue.RetainedQueue;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Reads the messages of one queue and adds the counts of their panes to the sums of all queues.
 * Late spans, whose pane is closed, count in the first pane that is not, as in servers. For one
 * thread at a time.
 */
final class BackfillQueue {
  private final QueueId id;
  private final SpanTopic.Messages log;
  private final RetainedQueue retained;
  private final RefusedBatches refused;
  private final WindowSums windows;
  private final SampleEstimates.Queue sample;
  private final long to;

  private long next;

  /** Panes that end at or before this time are closed, milliseconds since 1970. */
  private long closedMillis = SealedWindow.UNKNOWN_CLOSED;

  /** Panes that end after this time were open at the last message; {@link Long#MAX_VALUE} none. */
  private long openAfterMillis = Long.MAX_VALUE;

  /**
   * @param log of the queue
   * @param retained begins at {@code from}
   * @param refused observes {@code retained}
   * @param windows adds counts to the sums of all queues
   * @param sample of spans of which a dimension was not sent
   * @param to offset after the last message
   */
  BackfillQueue(
      QueueId id,
      SpanTopic.Messages log,
      RetainedQueue retained,
      RefusedBatches refused,
      WindowSums windows,
      SampleEstimates.Queue sample,
      long from,
      long to) {
    this.id = id;
    this.log = log;
    this.retained = retained;
    this.refused = refused;
    this.windows = windows;
    this.sample = sample;
    this.to = to;
    next = from;
  }

  /**
   * Reads until a pane is closed, or to the end, which closes all panes.
   *
   * @param endMillis end of the pane, milliseconds since 1970
   * @throws IOException if messages are missing, or one cannot be counted
   */
  void close(long endMillis, PacedReader reader) throws IOException, InterruptedException {
    while (closedMillis < endMillis) {
      if (next >= to) {
        add(retained.end());
        sample.end();
        openAfterMillis =
            closedMillis == SealedWindow.UNKNOWN_CLOSED ? Long.MAX_VALUE : closedMillis;
        closedMillis = Long.MAX_VALUE;
        return;
      }
      long from = next;
      for (MessageExt message : reader.read(log, from)) {
        if (message.getQueueOffset() < to) {
          take(message);
        }
      }
      if (next == from) {
        throw missing(to);
      }
    }
  }

  private void take(MessageExt message) throws IOException {
    long offset = message.getQueueOffset();
    if (offset != next) {
      throw missing(offset);
    }
    refused.next(id, offset);
    long notSent = refused.notSent();
    try {
      add(retained.take(message));
      if (refused.notSent() > notSent) {
        sample.take(message);
      }
    } catch (RuntimeException e) {
      throw new IOException("Message " + offset + " of queue " + id + " cannot be counted", e);
    }
    next = offset + 1;
  }

  private IOException missing(long offset) {
    return new IOException(
        "The broker no longer has messages "
            + next
            + " to "
            + (offset - 1)
            + " of queue "
            + id
            + "; use a later --since and an empty directory");
  }

  private void add(SealedWindow window) {
    if (window == null) {
      return;
    }
    windows.add(window);
    closedMillis = windows.closedMillis();
  }

  /**
   * Returns the time until which all panes were closed by the last message that was read,
   * milliseconds since 1970; {@link Long#MAX_VALUE} before the last one. Messages that arrive later
   * may have spans of later panes.
   */
  long openAfterMillis() {
    return openAfterMillis;
  }

  /** Returns how many spans were counted in a later pane because theirs was closed. */
  long lateSpans() {
    return windows.lateSpans();
  }

  /** Returns how many spans were counted in a later pane because a window had too many panes. */
  long mergedSpans() {
    return windows.mergedSpans();
  }
}
