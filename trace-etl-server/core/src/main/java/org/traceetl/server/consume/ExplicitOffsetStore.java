package org.traceetl.server.consume;

import java.util.Map;
import java.util.Set;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;

/**
 * Offsets that are committed only when the committer commits them. RocketMQ's own store remembers
 * what it read and sends it again now and then, at each rebalancing and at its end; for a queue
 * that had another owner meanwhile that would set the offset back. This one remembers nothing.
 */
final class ExplicitOffsetStore implements OffsetStore {
  private final OffsetStore broker;

  /**
   * @param broker asked for what the broker has
   */
  ExplicitOffsetStore(OffsetStore broker) {
    this.broker = broker;
  }

  @Override
  public void load() {}

  @Override
  public void updateOffset(MessageQueue queue, long offset, boolean increaseOnly) {}

  @Override
  public void updateAndFreezeOffset(MessageQueue queue, long offset) {}

  /** What the broker has, -1 if it has none, below if it did not answer. */
  @Override
  public long readOffset(MessageQueue queue, ReadOffsetType type) {
    return broker.readOffset(queue, ReadOffsetType.READ_FROM_STORE);
  }

  @Override
  public void persistAll(Set<MessageQueue> queues) {}

  @Override
  public void persist(MessageQueue queue) {}

  @Override
  public void removeOffset(MessageQueue queue) {}

  @Override
  public Map<MessageQueue, Long> cloneOffsetTable(String topic) {
    return Map.of();
  }

  @Override
  public void updateConsumeOffsetToBroker(MessageQueue queue, long offset, boolean oneway)
      throws RemotingException, MQBrokerException, InterruptedException, MQClientException {
    broker.updateConsumeOffsetToBroker(queue, offset, oneway);
  }
}
