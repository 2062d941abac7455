package org.traceetl.server.journal;

import java.io.IOException;
import org.traceetl.server.window.QueueId;

/** The logs of all queues. Safe for any thread. */
public interface JournalLogs extends AutoCloseable {
  /**
   * The log of a queue: one of its own for each call, all with the same messages.
   *
   * @throws IOException if there is none, or that cannot be found out now
   */
  JournalLog open(QueueId queue) throws IOException, InterruptedException;

  @Override
  void close();
}
