package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.util.List;

/**
 * Follows a queue's log for a sink. For one thread at a time.
 *
 * @param <T> what the sink receives
 */
public interface Tail<T> {
  /**
   * Returns what is next in the log.
   *
   * @return a limited number; empty if what was read has nothing for the sink, see {@link #lag}
   */
  List<T> poll() throws IOException, InterruptedException;

  /**
   * Returns the number of unread messages in the log; at least 1 if some may have to be read again.
   */
  long lag() throws IOException, InterruptedException;

  /**
   * Returns the offset to mark after all that was polled so far is processed, or {@link
   * org.traceetl.server.journal.JournalLog#NONE} before the first one.
   */
  long restart();

  /**
   * Marks the sink's progress. Call it regularly: after a restart, messages from the mark on are
   * read again.
   *
   * @param offset of the last processed record, or {@link #restart}
   */
  void mark(long offset) throws IOException, InterruptedException;
}
