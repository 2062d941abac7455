package org.traceetl.agent.publish;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.spool.SpooledBatch;

/** One attempt to bring a batch to the broker, and the broker's queues. Safe for any thread. */
public interface Transport extends AutoCloseable {
  /** Told once what became of an attempt, on any thread. */
  interface Answer {
    void confirmed();

    /**
     * Failed, perhaps not for the broker: it may still have it.
     *
     * @param detail for the log
     */
    void failed(Failure failure, String detail);

    /** The broker will never take this batch. */
    void refused(String detail);
  }

  /** How an attempt failed. */
  enum Failure {
    CONNECT,
    TIMEOUT,
    /** The client failed before or while it sent. */
    CLIENT,
    /** The broker answered that it does not take the batch now. */
    BROKER,
    /** The broker stored the batch, but its disk did not confirm it in time. */
    FLUSH_DISK_TIMEOUT,
    /** The broker stored the batch, but a replica did not confirm it in time. */
    FLUSH_SLAVE_TIMEOUT,
    /** The broker stored the batch, but had no replica to give it to. */
    SLAVE_NOT_AVAILABLE,
    /** The broker does not know the keys, or they may not publish to the topic. */
    DENIED,
    /** Nothing was heard of the attempt. */
    NO_ANSWER;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** As a metric label. */
    String label() {
      return label;
    }

    /** True if the broker can be reached: it answered. */
    boolean isAnswer() {
      return switch (this) {
        case BROKER, FLUSH_DISK_TIMEOUT, FLUSH_SLAVE_TIMEOUT, SLAVE_NOT_AVAILABLE -> true;
        case CONNECT, TIMEOUT, CLIENT, DENIED, NO_ANSWER -> false;
      };
    }
  }

  /** Starts one attempt with a batch whose body is in memory. Does not block. */
  void send(SpooledBatch batch, Answer answer);

  /**
   * The queues that can be written to, at least one. Blocks for a few seconds at most.
   *
   * @throws IOException when the broker does not tell, with a message for the operator
   */
  List<BrokerQueue> queues() throws IOException;

  @Override
  void close();
}
