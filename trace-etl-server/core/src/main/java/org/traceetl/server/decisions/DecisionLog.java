package org.traceetl.server.decisions;

import java.io.IOException;
import java.util.Set;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/** Where decisions stand, and what they are about. */
public interface DecisionLog {
  /**
   * Where the decisions stand now: the lowest queue of their topic, another one when brokers come
   * or go.
   *
   * @return null if their topic does not exist
   * @throws IOException if that cannot be found out now
   */
  QueueId place() throws IOException, InterruptedException;

  /** The log of decisions at a place. */
  JournalLog open(QueueId place);

  /**
   * The queues of the span topic that can be both written and read.
   *
   * @throws IOException if they cannot be found out now
   */
  Set<QueueId> queues() throws IOException, InterruptedException;

  /**
   * Offset after the newest message of a queue of the span topic.
   *
   * @throws IOException if its broker does not tell now
   */
  long end(QueueId queue) throws IOException, InterruptedException;

  /** Those that this server owns. Never waits. */
  Set<QueueId> owned();

  /**
   * Whether what came of late was told of each queue; before, some would seem empty. Never waits.
   */
  boolean upToDate();
}
