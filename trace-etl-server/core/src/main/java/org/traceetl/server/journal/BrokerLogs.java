package org.traceetl.server.journal;

import java.io.IOException;
import java.util.Set;
import org.traceetl.server.window.QueueId;

/**
 * The logs of a topic, and what the brokers know of the spans' topic and of its consumer group.
 * Thread-safe. Simulations replace it.
 */
public interface BrokerLogs extends JournalLogs {
  /**
   * Starts the client; no broker is needed yet. Call it once.
   *
   * @throws IOException if the client's own threads or files fail
   */
  void start() throws IOException;

  /** Returns the log in a queue of another topic. Does not wait. */
  JournalLog open(String other, QueueId queue);

  /**
   * Returns the lowest queue of another topic that can be both written and read.
   *
   * @return null if there is no such topic
   * @throws IOException if that cannot be determined now
   */
  QueueId lowest(String other) throws IOException, InterruptedException;

  /**
   * Returns the queues of another topic that can be both written and read.
   *
   * @return empty if there is no such topic
   * @throws IOException if they cannot be determined now
   */
  Set<QueueId> queues(String other) throws IOException, InterruptedException;

  /**
   * Returns the queues that have a log now, whoever owns them.
   *
   * @throws IOException if they cannot be determined now
   */
  Set<QueueId> queues() throws IOException, InterruptedException;

  /**
   * Returns the writable queues of the span topic, with or without a log.
   *
   * @throws IOException if they cannot be determined now
   */
  Set<QueueId> spanQueues() throws IOException, InterruptedException;

  /**
   * Returns the readable queues of the span topic, including those that are only to be drained.
   *
   * @throws IOException if they cannot be determined now
   */
  Set<QueueId> readableSpanQueues() throws IOException, InterruptedException;

  /**
   * Returns names of the clients in the servers' consumer group, from the brokers of the span topic
   * that answer.
   *
   * @throws IOException if no broker answers
   */
  Set<String> members() throws IOException, InterruptedException;
}
