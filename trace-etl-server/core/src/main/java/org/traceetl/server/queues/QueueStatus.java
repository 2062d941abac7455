package org.traceetl.server.queues;

import org.traceetl.server.window.QueueId;

/**
 * How far a queue is read, and the size of its state. Taken between batches; the numbers may be
 * from slightly different times.
 *
 * @param next offset of the next message to read; -1 before the first
 * @param committed offset at which a restart would begin; -1 before the first commit
 * @param end offset after the newest message, as last reported by the broker
 * @param series live series
 * @param symbols distinct strings in their keys
 * @param agents agents whose batches are remembered
 * @param openHalves half-edges that wait for their other end or for further ones
 */
public record QueueStatus(
    QueueId queue,
    long next,
    long committed,
    long end,
    int series,
    int symbols,
    int agents,
    int openHalves) {
  /** Returns the number of unread messages. */
  public long lag() {
    return next < 0 ? 0 : Math.max(0, end - next);
  }
}
