package org.traceetl.server.journal;

import java.io.IOException;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.SealedWindow;

/**
 * A queue's journal for one owner, from its claim to its release or to another owner's claim. Each
 * call waits for the broker. For one thread at a time.
 */
public interface QueueJournal {
  /** The result of an owner's append. */
  enum Outcome {
    /** The caller owns the queue, and what it appended counts. */
    KEPT,

    /**
     * The caller has lost the queue: another owner has claimed it, or its log cannot be continued.
     * The next owner reads again what was not kept. The caller drops its state and may take the
     * queue over again.
     */
    FENCED
  }

  /**
   * Appends a window. It counts from the moment this returns {@link Outcome#KEPT}.
   *
   * @param window the queue's next: its {@code from} is the {@code to} of the one before
   * @param read places up to the window's {@code to} that let a later owner check whether the
   *     broker still has what was read; if empty, none are written
   * @throws InconsistentWindowException if the window contradicts itself or the journal; nothing is
   *     written, and the caller must {@link #release} or call {@link #appendInconsistent}
   * @throws IllegalArgumentException if the window is not the next one, or too large; nothing is
   *     written
   * @throws IOException if it is unknown or unconfirmed whether the window counts; repeat the call
   *     with the same window until there is an outcome
   */
  Outcome append(SealedWindow window, LastMessages read) throws IOException, InterruptedException;

  /**
   * Appends a window that {@link #append} has refused, if readers can decode it. They apply it, and
   * report it.
   *
   * @throws InconsistentWindowException if readers would reject it; nothing is written
   * @throws IOException as {@link #append}, which also takes the repeated call
   */
  Outcome appendInconsistent(SealedWindow window, LastMessages read)
      throws IOException, InterruptedException;

  /** Appends a window without any places. */
  default Outcome append(SealedWindow window) throws IOException, InterruptedException {
    return append(window, LastMessages.NONE);
  }

  /**
   * Renews the lease: appends a small record; its answer shows whether the caller still owns the
   * queue. A read would not, because a superseded broker answers reads.
   */
  Outcome renew() throws IOException, InterruptedException;

  /**
   * Returns until when this owner may show the queue's counts, by {@link System#nanoTime}: a lease
   * from the start of the last confirmed append that proved the ownership. A later owner shows
   * nothing before.
   */
  long shownUntilNanos();

  /** Returns whether a snapshot is due. */
  boolean snapshotDue();

  /**
   * Writes the queue's state as of the last kept window, so that a recovery need not read earlier
   * records. The state comes from the log, not from memory. A failure only makes a recovery longer.
   */
  Outcome snapshot() throws IOException, InterruptedException;

  /**
   * Records that this owner has ended, so that the next one need not wait for the lease. Before the
   * call, the owner must stop showing the queue.
   */
  void release() throws IOException, InterruptedException;
}
