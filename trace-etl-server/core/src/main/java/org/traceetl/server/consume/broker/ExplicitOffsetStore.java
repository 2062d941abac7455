package org.traceetl.server.consume.broker;

import java.util.Map;
import java.util.Set;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;

/**
 * An offset store that stores nothing, because the committer commits offsets. RocketMQ's own store
 * remembers offsets that were read and sends them again at each rebalancing and at its end. If a
 * queue had another owner meanwhile, that would set its offset back.
 */
final class ExplicitOffsetStore implements OffsetStore {
  private final OffsetStore broker;

  /**
   * @param broker reads offsets from the broker
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

  /** Returns the broker's offset; -1 if it has none, less if it did not answer. */
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
