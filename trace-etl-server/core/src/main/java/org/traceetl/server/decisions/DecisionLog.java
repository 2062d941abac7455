package org.traceetl.server.decisions;

import java.io.IOException;
import java.util.Set;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/** Gives access to the log of decisions, and to the queues that they concern. */
public interface DecisionLog {
  /**
   * Returns where the decisions are now: the lowest queue of their topic, which changes when
   * brokers are added or removed.
   *
   * @return null if their topic does not exist
   * @throws IOException if that cannot be determined now
   */
  QueueId place() throws IOException, InterruptedException;

  /** Returns the log of decisions at a place. */
  JournalLog open(QueueId place);

  /**
   * Returns the queues of the span topic that can be both written and read.
   *
   * @throws IOException if they cannot be determined now
   */
  Set<QueueId> queues() throws IOException, InterruptedException;

  /**
   * Returns the offset after the newest message of a queue of the span topic.
   *
   * @throws IOException if its broker does not report it now
   */
  long end(QueueId queue) throws IOException, InterruptedException;

  /** Returns the queues that this server owns. Never waits. */
  Set<QueueId> owned();

  /** Returns whether the newest windows of each queue were delivered. Never waits. */
  boolean upToDate();
}
