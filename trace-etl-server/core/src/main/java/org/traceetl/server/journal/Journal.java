package org.traceetl.server.journal;

import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/**
 * Where sealed windows become true: one log for each queue of spans. A window's counts are seen by
 * nobody, and its offsets are committed by nobody, before its queue's log has it. Safe for any
 * thread.
 */
public interface Journal extends AutoCloseable {
  /**
   * A queue taken over.
   *
   * @param journal for its windows from here on
   * @param image its state: what all windows kept so far add up to
   * @param lastMessages by which to find out whether the broker still has what they count
   * @param showFromNanos from when on its counts may be shown, by {@link System#nanoTime}: before,
   *     its last owner may still show older ones
   */
  record Taken(
      QueueJournal journal, QueueImage image, LastMessages lastMessages, long showFromNanos) {}

  /**
   * Reads a queue's state from its log and claims the queue for the caller. Whoever claimed it
   * before is fenced by that.
   *
   * @param patience how long another process that owns it may take to release it, so that its
   *     counts can be shown at once
   * @param wanted whether it still is the caller's to take; asked before the claim
   * @return null, and nothing is claimed, if it is not wanted any more
   * @throws IOException if the log cannot be read or written now
   */
  Taken take(QueueId queue, Duration patience, BooleanSupplier wanted)
      throws IOException, InterruptedException;

  /** The same, wanted whatever happens. */
  default Taken take(QueueId queue, Duration patience) throws IOException, InterruptedException {
    return take(queue, patience, () -> true);
  }

  /** The same without patience. */
  default Taken take(QueueId queue) throws IOException, InterruptedException {
    return take(queue, Duration.ZERO);
  }

  @Override
  void close();
}
