package org.traceetl.server.journal;

import java.io.IOException;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.SealedWindow;

/**
 * A queue's journal in the hands of one owner, from its claim to its release or to the claim of
 * another one. Each call waits for the broker. One thread at a time.
 */
public interface QueueJournal {
  /** What the log made of an owner's wish. */
  enum Outcome {
    /** The queue is the caller's, and what it appended counts. */
    KEPT,

    /**
     * The queue is not the caller's any more: another owner has claimed it, or its log cannot be
     * gone on with. What was not kept is read again by the next owner. The caller drops what it
     * holds and may take the queue anew.
     */
    FENCED
  }

  /**
   * Appends a window. It counts from the moment on that this answers {@link Outcome#KEPT}.
   *
   * @param window the queue's next: its {@code from} is the {@code to} of the one before
   * @param read the places by which a later owner finds out whether the broker still has what was
   *     read, up to the window's {@code to}; without any, none are written
   * @throws IOException if it is not known whether it counts, or not confirmed that it does: to be
   *     called again with the same window, however often, until there is an outcome
   */
  Outcome append(SealedWindow window, LastMessages read) throws IOException, InterruptedException;

  /** Appends a window without any places. */
  default Outcome append(SealedWindow window) throws IOException, InterruptedException {
    return append(window, LastMessages.NONE);
  }

  /**
   * Renews the lease: appends a small record, and finds out by the answer whether the queue is
   * still the caller's. Reading would not do, as a broker that was superseded answers reads.
   */
  Outcome renew() throws IOException, InterruptedException;

  /**
   * Until when this owner may show the queue's counts, by {@link System#nanoTime}: a lease from the
   * begin of the last append that was confirmed and found the queue to be its own. A later owner
   * shows nothing before.
   */
  long shownUntilNanos();

  /** Whether a snapshot is due. */
  boolean snapshotDue();

  /**
   * Writes the queue's state as of the last window kept, so that a recovery need not read what was
   * before. Made from the log itself, not from memory. Failing costs a longer recovery, nothing
   * else.
   */
  Outcome snapshot() throws IOException, InterruptedException;

  /**
   * Says in the log that this owner has ended, so that the next one need not wait for the lease.
   * Nothing may be shown any more when it is called.
   */
  void release() throws IOException, InterruptedException;
}
