package org.traceetl.server.consume.broker;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.rocketmq.Endpoint;

/** A member of the span topic's consumer group, as a worker uses it. Simulations replace it. */
public interface SpanConsumer extends AutoCloseable {
  /** Starts consumers. */
  interface Connector {
    /**
     * Starts a consumer; no broker is needed yet.
     *
     * @param worker number of the worker within the process
     * @param endpoint announced to the group; null for none
     * @param pullThreads queues that it can wait for at the same time
     * @param assigned receives the consumer's queues whenever they change, on any thread
     * @throws MQClientException if the client does not start
     */
    SpanConsumer connect(
        int worker, Endpoint endpoint, int pullThreads, Consumer<Set<MessageQueue>> assigned)
        throws MQClientException;
  }

  /** Returns a connector to RocketMQ's brokers by its own client. */
  static Connector rocketMq(RocketMqConfig config, Clocks clocks) {
    return RocketMqSpanConsumer.connector(config, clocks);
  }

  /** Returns the number of queues of the topic. */
  int queueCount() throws MQClientException;

  /** Returns messages of one queue; empty if none came within the time. */
  List<MessageExt> poll(long timeoutMillis);

  /** Stops a queue's pulls, until they are continued. */
  void pause(MessageQueue queue);

  /**
   * Continues a queue's pulls at an offset.
   *
   * @param comparedAt address of the master whose messages were compared with those that were read;
   *     null if unknown
   */
  void seek(MessageQueue queue, long offset, String comparedAt) throws MQClientException;

  /** Returns whether a queue's pulls go on elsewhere than at the offset of the last seek. */
  boolean hasLeft(MessageQueue queue);

  /**
   * Returns a test, true once for each offset at which a queue's pull continued after one without
   * an answer, or at another address.
   */
  LongPredicate resumedPulls(MessageQueue queue);

  /** Returns the offsets of the queues at the brokers. */
  BrokerOffsets offsets();

  /** Returns the number of rebalances so far. */
  long rebalances();

  /** Returns the consumer's queues as of the last rebalance; null before the first one. */
  Set<MessageQueue> queues();

  /** Returns whether rebalances gave this consumer the queue, but RocketMQ did not assign it. */
  boolean isWithheld(MessageQueue queue);

  /**
   * Returns queues that rebalances did not give to this consumer, but RocketMQ did not take away.
   */
  Set<MessageQueue> lost();

  /** Rebalances on this thread. Call it only while RocketMQ's own thread does not rebalance. */
  void rebalance();

  /** Leaves the consumer group. */
  @Override
  void close();
}
