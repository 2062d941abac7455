package org.traceetl.server.consume.broker;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Allocates queues with RocketMQ's default strategy, and records this consumer's share. RocketMQ
 * calls a consumer's listener only if its queues changed: it never calls a consumer that gets no
 * queue. It calls the strategy at every rebalance.
 *
 * <p>Thread-safe. The rebalancing thread writes; any thread reads.
 */
public final class ObservedAllocation implements AllocateMessageQueueStrategy {
  private final AllocateMessageQueueStrategy strategy = new AllocateMessageQueueAveragely();
  private Set<MessageQueue> handedOver = Set.of();
  private volatile Set<MessageQueue> queues;
  private volatile Set<MessageQueue> withheld = Set.of();
  private volatile Set<MessageQueue> lost = Set.of();

  /** Were lost since the last hand-over, so the worker has given them up. */
  private final Set<MessageQueue> givenUp = new HashSet<>();

  private volatile long rebalances;

  @Override
  @SuppressWarnings("NonAtomicVolatileUpdate") // the method is locked
  public synchronized List<MessageQueue> allocate(
      String group, String consumer, List<MessageQueue> all, List<String> consumers) {
    rebalances++;
    // A broker lists a consumer once for each of its connections. If the client opened a second one
    // after a time-out, no server would read the queues of the second entry.
    List<String> members = consumers.stream().distinct().toList();
    List<MessageQueue> share = strategy.allocate(group, consumer, all, members);
    // If a broker does not know this consumer yet, its result is meaningless.
    if (consumers.contains(consumer)) {
      Set<MessageQueue> before = queues == null ? Set.of() : queues;
      Set<MessageQueue> again = new HashSet<>(before);
      again.retainAll(share);
      again.removeIf(queue -> handedOver.contains(queue) && !givenUp.contains(queue));
      withheld = again;
      Set<MessageQueue> gone = new HashSet<>(handedOver);
      gone.removeAll(before);
      gone.removeAll(share);
      lost = gone;
      givenUp.addAll(gone);
      queues = Set.copyOf(share);
    }
    return share;
  }

  @Override
  public String getName() {
    return strategy.getName();
  }

  /** Records the queues with which RocketMQ called the listener. */
  public synchronized void handedOver(Set<MessageQueue> mine) {
    handedOver = mine;
    withheld = Set.of();
    lost = Set.of();
    givenUp.clear();
    if (queues != null) {
      // If the topic is gone, RocketMQ does not call the strategy.
      queues = mine;
    }
  }

  /** Returns the number of calls of the strategy. */
  public long rebalances() {
    return rebalances;
  }

  /** Returns this consumer's queues as of the last rebalance; null before the first one. */
  public Set<MessageQueue> queues() {
    return queues;
  }

  /**
   * Returns whether two consecutive rebalances gave this consumer the queue, but RocketMQ did not
   * assign it: it could not read the group's offset from the queue's broker.
   */
  public boolean isWithheld(MessageQueue queue) {
    return withheld.contains(queue);
  }

  /**
   * Returns the queues that two consecutive rebalances did not give to this consumer, but RocketMQ
   * did not take away: it hands over a queue whose offset it cannot read together with others, and
   * then does not compare it (RebalanceImpl.updateProcessQueueTableInRebalance of 5.5.0).
   */
  public Set<MessageQueue> lost() {
    return lost;
  }
}
