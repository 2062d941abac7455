package org.traceetl.server.hotspot;

import java.io.IOException;
import java.util.Set;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/** Where decisions stand, and the queues that they are about. */
public interface DecisionLog {
  /**
   * The log of the decisions.
   *
   * @return null if its topic does not exist
   * @throws IOException if that cannot be found out now
   */
  JournalLog open() throws IOException, InterruptedException;

  /** All queues of the span topic. */
  Set<QueueId> queues() throws IOException, InterruptedException;

  /** Those that this server owns. Never waits. */
  Set<QueueId> owned();
}
