package org.traceetl.server.queues;

import org.traceetl.server.window.QueueId;

/**
 * How far a queue is read, and what is kept for it. Taken between batches; the numbers may be a
 * moment apart.
 *
 * @param next offset of the message to be read next; -1 before the first
 * @param committed offset that a restart would begin at; -1 before the first commit
 * @param end offset after the newest message, as the broker last told
 * @param series live series
 * @param symbols different strings they are made of
 * @param agents agents whose batches are remembered
 */
public record QueueStatus(
    QueueId queue, long next, long committed, long end, int series, int symbols, int agents) {
  /** Messages not read yet. */
  public long lag() {
    return next < 0 ? 0 : Math.max(0, end - next);
  }
}
