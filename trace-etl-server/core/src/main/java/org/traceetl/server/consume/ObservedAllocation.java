package org.traceetl.server.consume;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Shares the topic's queues out as RocketMQ's default strategy does, and keeps this consumer's
 * share. RocketMQ calls a consumer's listener only if its queues changed: a consumer that gets no
 * queue is never called. The strategy is asked in every rebalance.
 *
 * <p>Thread-safe. The thread that rebalances writes; any thread reads.
 */
final class ObservedAllocation implements AllocateMessageQueueStrategy {
  private final AllocateMessageQueueStrategy strategy = new AllocateMessageQueueAveragely();
  private Set<MessageQueue> handedOver = Set.of();
  private volatile Set<MessageQueue> queues;
  private volatile Set<MessageQueue> withheld = Set.of();
  private volatile long rebalances;

  @Override
  @SuppressWarnings("NonAtomicVolatileUpdate") // only while it is locked
  public synchronized List<MessageQueue> allocate(
      String group, String consumer, List<MessageQueue> all, List<String> consumers) {
    rebalances++;
    List<MessageQueue> share = strategy.allocate(group, consumer, all, consumers);
    // A broker that does not know this consumer yet gives it nothing, which says nothing.
    if (consumers.contains(consumer)) {
      Set<MessageQueue> again = new HashSet<>(queues == null ? Set.of() : queues);
      again.retainAll(share);
      again.removeAll(handedOver);
      withheld = again;
      queues = Set.copyOf(share);
    }
    return share;
  }

  @Override
  public String getName() {
    return strategy.getName();
  }

  /** RocketMQ called the listener with these queues. */
  synchronized void handedOver(Set<MessageQueue> mine) {
    handedOver = mine;
    withheld = Set.of();
    if (queues != null) {
      // Where the topic has gone, the strategy is not asked.
      queues = mine;
    }
  }

  /** How often the strategy was asked. */
  long rebalances() {
    return rebalances;
  }

  /** This consumer's queues as of the last rebalance; null before the first one. */
  Set<MessageQueue> queues() {
    return queues;
  }

  /**
   * Whether two rebalances in a row gave this consumer the queue, and RocketMQ did not hand it over
   * after the first: it could not read the group's offset from the queue's broker.
   */
  boolean isWithheld(MessageQueue queue) {
    return withheld.contains(queue);
  }
}
