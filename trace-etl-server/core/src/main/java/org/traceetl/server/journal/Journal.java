package org.traceetl.server.journal;

import java.io.IOException;
import java.time.Duration;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/**
 * Stores sealed windows: one log for each queue of spans. A window's counts are shown, and its
 * offsets are committed, only after its queue's log has stored it. Thread-safe.
 */
public interface Journal extends AutoCloseable {
  /**
   * The result of a take-over.
   *
   * @param journal stores the queue's windows from now on
   * @param image the queue's state: the sum of all windows kept so far
   * @param lastMessages show whether the broker still has the counted messages
   * @param showFromNanos when its counts may first be shown, by {@link System#nanoTime}; before,
   *     its previous owner may still show older ones
   */
  record Taken(
      QueueJournal journal, QueueImage image, LastMessages lastMessages, long showFromNanos) {}

  /**
   * Prepares a take-over: the steps read the queue's state from its log, and claim the queue, which
   * fences its previous owner. Reads and writes nothing yet.
   *
   * @param patience how long to wait for another process to release it, so that its counts can be
   *     shown immediately
   */
  TakeOver takeOver(QueueId queue, Duration patience);

  /**
   * A take-over in steps, which the caller may stop between two of them. For one thread at a time.
   */
  interface TakeOver {
    /**
     * Makes a step. Waits for the broker's answers only.
     *
     * @return null if more steps follow, the next one after {@link #dueInNanos}
     * @throws IOException if the log cannot be read or written now; no more steps follow
     */
    Taken step() throws IOException, InterruptedException;

    /** Returns nanoseconds until the next step is due; 0 or less if it is due. */
    default long dueInNanos() {
      return 0;
    }
  }

  @Override
  void close();
}
