package org.traceetl.server.journal;

import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
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
   * Reads a queue's state from its log and claims the queue, which fences its previous owner.
   *
   * @param patience how long to wait for another process to release it, so that its counts can be
   *     shown immediately
   * @param wanted whether the caller still needs the queue; checked before the claim
   * @return null, without a claim, if it is no longer wanted
   * @throws IOException if the log cannot be read or written now
   */
  Taken take(QueueId queue, Duration patience, BooleanSupplier wanted)
      throws IOException, InterruptedException;

  /** Takes the queue over unconditionally. */
  default Taken take(QueueId queue, Duration patience) throws IOException, InterruptedException {
    return take(queue, patience, () -> true);
  }

  /** Takes the queue over unconditionally, without waiting for a release. */
  default Taken take(QueueId queue) throws IOException, InterruptedException {
    return take(queue, Duration.ZERO);
  }

  @Override
  void close();
}
