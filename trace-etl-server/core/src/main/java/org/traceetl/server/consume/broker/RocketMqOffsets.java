package org.traceetl.server.consume.broker;

import java.nio.ByteBuffer;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.CommunicationMode;
import org.apache.rocketmq.client.impl.MQAdminImpl;
import org.apache.rocketmq.client.impl.consumer.PullResultExt;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.filter.ExpressionType;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.sysflag.PullSysFlag;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.header.PullMessageRequestHeader;

/** Reads and commits offsets at RocketMQ's brokers. */
final class RocketMqOffsets implements BrokerOffsets {
  private static final long TIMEOUT_MILLIS = 6_000;

  private final MQClientInstance client;
  private final MQAdminImpl queues;
  private final OffsetStore offsets;
  private final String group;

  RocketMqOffsets(MQClientInstance client, OffsetStore offsets, String group) {
    this.client = client;
    this.queues = client.getMQAdminImpl();
    this.offsets = offsets;
    this.group = group;
  }

  @Override
  public Range of(MessageQueue queue) throws MQClientException {
    return new Range(queues.minOffset(queue), max(queue), committed(queue));
  }

  @Override
  public MessageExt message(MessageQueue queue, long offset) throws MQClientException {
    PullMessageRequestHeader header = new PullMessageRequestHeader();
    header.setConsumerGroup(group);
    header.setTopic(queue.getTopic());
    header.setBrokerName(queue.getBrokerName());
    header.setQueueId(queue.getQueueId());
    header.setQueueOffset(offset);
    header.setMaxMsgNums(1);
    header.setSysFlag(PullSysFlag.buildSysFlag(false, false, true, false));
    header.setCommitOffset(0L);
    header.setSuspendTimeoutMillis(0L);
    header.setSubscription("*");
    header.setSubVersion(0L);
    header.setExpressionType(ExpressionType.TAG);
    PullResultExt result = pull(queue, header);
    if (result.getPullStatus() != PullStatus.FOUND) {
      return null;
    }
    ByteBuffer messages = ByteBuffer.wrap(result.getMessageBinary());
    for (MessageExt message : MessageDecoder.decodesBatch(messages, true, false, true)) {
      if (message.getQueueOffset() == offset) {
        return message;
      }
    }
    return null;
  }

  @Override
  public String address(MessageQueue queue) {
    return client.findBrokerAddressInPublish(queue.getBrokerName());
  }

  private PullResultExt pull(MessageQueue queue, PullMessageRequestHeader header)
      throws MQClientException {
    String master = address(queue);
    if (master == null) {
      throw new MQClientException("no name server knows a master of " + queue, null);
    }
    try {
      return (PullResultExt)
          client
              .getMQClientAPIImpl()
              .pullMessage(master, header, TIMEOUT_MILLIS, CommunicationMode.SYNC, null);
    } catch (RemotingException | MQBrokerException e) {
      throw new MQClientException("the broker does not return a message of " + queue, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MQClientException("interrupted while a message of " + queue + " was read", e);
    }
  }

  @Override
  public long max(MessageQueue queue) throws MQClientException {
    return queues.maxOffset(queue);
  }

  @Override
  public long committed(MessageQueue queue) throws MQClientException {
    long offset = offsets.readOffset(queue, ReadOffsetType.READ_FROM_STORE);
    if (offset < NONE) {
      throw new MQClientException(
          "the broker does not return the group's offset of " + queue, null);
    }
    return offset;
  }

  @Override
  public void commit(MessageQueue queue, long offset)
      throws RemotingException, MQBrokerException, InterruptedException, MQClientException {
    offsets.updateConsumeOffsetToBroker(queue, offset, false);
  }
}
