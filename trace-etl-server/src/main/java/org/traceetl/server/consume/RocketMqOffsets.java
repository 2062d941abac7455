package org.traceetl.server.consume;

import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.MQAdminImpl;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;

/** The offsets as RocketMQ's brokers have them. */
final class RocketMqOffsets implements BrokerOffsets {
  private final MQAdminImpl queues;
  private final OffsetStore group;

  RocketMqOffsets(MQAdminImpl queues, OffsetStore group) {
    this.queues = queues;
    this.group = group;
  }

  @Override
  public Range of(MessageQueue queue) throws MQClientException {
    return new Range(queues.minOffset(queue), max(queue), committed(queue));
  }

  @Override
  public long max(MessageQueue queue) throws MQClientException {
    return queues.maxOffset(queue);
  }

  @Override
  public long committed(MessageQueue queue) throws MQClientException {
    long offset = group.readOffset(queue, ReadOffsetType.READ_FROM_STORE);
    if (offset < NONE) {
      throw new MQClientException("the broker does not tell the offset of " + queue, null);
    }
    return offset;
  }

  @Override
  public void commit(MessageQueue queue, long offset)
      throws RemotingException, MQBrokerException, InterruptedException, MQClientException {
    group.updateConsumeOffsetToBroker(queue, offset, false);
  }
}
