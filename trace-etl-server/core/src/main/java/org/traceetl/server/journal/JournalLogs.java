package org.traceetl.server.journal;

import java.io.IOException;
import org.traceetl.server.window.QueueId;

/** Opens the logs of queues. Thread-safe. */
public interface JournalLogs extends AutoCloseable {
  /**
   * Returns the log of a queue: a new object at each call, for the same messages.
   *
   * @throws IOException if there is no log, or its existence cannot be determined now
   */
  JournalLog open(QueueId queue) throws IOException, InterruptedException;

  @Override
  void close();
}
