package org.traceetl.agent.publish;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.proto.BatchAges;

/**
 * Makes single attempts to send a message, lists the topic's queues, and reads the servers'
 * decisions. Safe for any thread.
 */
public interface Transport extends AutoCloseable {
  /** Creates an agent's transport. */
  @FunctionalInterface
  interface Connector {
    /**
     * Creates a transport. The broker need not be reachable yet.
     *
     * @throws IOException if the configuration is refused
     */
    Transport connect(AgentConfig config, AgentIdentity agent) throws IOException;
  }

  /** Receives the outcome of an attempt, once, on any thread. */
  interface Answer {
    void confirmed();

    /**
     * The attempt failed; the broker may still have the message.
     *
     * @param detail for the log
     */
    void failed(Failure failure, String detail);

    /** The broker refuses this message permanently. */
    void refused(String detail);
  }

  /** How an attempt failed. */
  enum Failure {
    CONNECT,
    TIMEOUT,
    /** The client failed before or while it sent. */
    CLIENT,
    /** The broker answered that it does not accept the message now. */
    BROKER,
    /** The broker stored the message, but its disk did not confirm it in time. */
    FLUSH_DISK_TIMEOUT,
    /** The broker stored the message, but a replica did not confirm it in time. */
    FLUSH_SLAVE_TIMEOUT,
    /** The broker stored the message, but had no replica to give it to. */
    SLAVE_NOT_AVAILABLE,
    /** The broker does not know the keys, or they may not publish to the topic. */
    DENIED,
    /** The attempt got no answer. */
    NO_ANSWER;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** Returns the metric label. */
    String label() {
      return label;
    }

    /** Returns true if the failure proves that the broker is reachable. */
    boolean isAnswer() {
      return switch (this) {
        case BROKER, FLUSH_DISK_TIMEOUT, FLUSH_SLAVE_TIMEOUT, SLAVE_NOT_AVAILABLE -> true;
        case CONNECT, TIMEOUT, CLIENT, DENIED, NO_ANSWER -> false;
      };
    }
  }

  /**
   * Starts one attempt to send a message to a queue. Does not block.
   *
   * @param message must not change
   * @param ages returns the ages of the message's batches at this moment, the text of {@link
   *     BatchAges}; sent as its user property. Called once, on any thread, when the message leaves
   */
  void send(BrokerQueue queue, byte[] message, Supplier<String> ages, Answer answer);

  /**
   * Returns the writable queues, at least one. Blocks for a few seconds at most.
   *
   * @throws IOException if the broker does not answer, with a message for the operator
   */
  List<BrokerQueue> queues() throws IOException;

  /**
   * Returns the newest messages of another topic's lowest queue, to which servers write all
   * decisions. The topic need not exist.
   *
   * @param known after the messages read before; if it is still the end, nothing is read
   * @throws IOException if the broker does not answer, with a message for the operator
   */
  DecisionsWatch.Newest newest(String topic, DecisionsWatch.Place known) throws IOException;

  @Override
  void close();
}
