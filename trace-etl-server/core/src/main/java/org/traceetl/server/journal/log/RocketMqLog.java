package org.traceetl.server.journal.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.exception.OffsetNotFoundException;
import org.apache.rocketmq.client.impl.CommunicationMode;
import org.apache.rocketmq.client.impl.MQClientAPIImpl;
import org.apache.rocketmq.client.impl.consumer.PullResultExt;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.filter.ExpressionType;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.sysflag.PullSysFlag;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.apache.rocketmq.remoting.protocol.header.PullMessageRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.QueryConsumerOffsetRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.SendMessageRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.UpdateConsumerOffsetRequestHeader;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.NoAnswerException;

/**
 * A queue of the journal's topic, accessed at the master of its broker, because slaves lag. The
 * broker indexes a queue shortly after it answers an append, so {@link #read} and {@link #end} may
 * lag by some milliseconds.
 *
 * <p>All calls go to one address until a call fails. If the route names another master, the next
 * call fails once, to inform the caller of the change. After a failure the route is read again.
 *
 * <p>Reads bypass the client's consumers, which can only start at an offset as members of a group.
 * Several threads may read at once.
 */
public final class RocketMqLog implements JournalLog {
  /** The broker returns fewer if these exceed about 256 KiB, but at least one. */
  private static final int MAX_MESSAGES = 32;

  private static final byte[] EMPTY = {};

  private final DefaultMQProducer producer;
  private final MQClientInstance client;
  private final MessageQueue queue;
  private final String readerGroup;
  private final long timeoutMillis;
  private final InstantSource wall;

  /** Address of the master that calls go to; null before the first call and after a failure. */
  private volatile String master;

  private volatile boolean failed;

  RocketMqLog(
      DefaultMQProducer producer,
      MQClientInstance client,
      MessageQueue queue,
      RocketMqConfig config,
      Duration timeout,
      InstantSource wall) {
    this.producer = producer;
    this.client = client;
    this.queue = queue;
    // The broker must know the group, and this one reads the spans anyway.
    readerGroup = config.consumerGroup();
    timeoutMillis = timeout.toMillis();
    this.wall = wall;
  }

  /** A call to the broker. */
  @FunctionalInterface
  private interface Call<T> {
    T of(MQClientAPIImpl api, String broker)
        throws MQClientException, RemotingException, MQBrokerException, InterruptedException;
  }

  private <T> T call(String what, Call<T> call) throws IOException, InterruptedException {
    try {
      return call.of(client.getMQClientAPIImpl(), broker());
    } catch (MQBrokerException e) {
      throw failed(new IOException(message(what) + remedy(e), e));
    } catch (MQClientException | RemotingException e) {
      throw failed(new NoAnswerException(message(what), e));
    }
  }

  private IOException failed(IOException failure) {
    master = null;
    failed = true;
    return failure;
  }

  private String message(String what) {
    return "Topic "
        + queue.getTopic()
        + ", queue "
        + queue.getBrokerName()
        + "/"
        + queue.getQueueId()
        + ": "
        + what
        + " failed";
  }

  private static String remedy(MQBrokerException e) {
    return e.getResponseCode() == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
        ? ". The broker does not make consumer groups itself; make it: mqadmin updateSubGroup"
        : "";
  }

  private String broker() throws MQClientException {
    if (failed || client.findBrokerAddressInPublish(queue.getBrokerName()) == null) {
      client.updateTopicRouteInfoFromNameServer(queue.getTopic());
      failed = false;
    }
    String address = client.findBrokerAddressInPublish(queue.getBrokerName());
    if (address == null) {
      throw new MQClientException("no name server knows a master of this broker", null);
    }
    String former = master;
    if (former != null && !former.equals(address)) {
      throw new MQClientException(
          "the broker's master is now " + address + ", no longer " + former, null);
    }
    master = address;
    return address;
  }

  @Override
  public long append(byte[] message) throws IOException, InterruptedException {
    // The producer's own send could go to another address than the reads.
    SendResult result = call("appending", (api, broker) -> send(api, broker, message));
    if (result.getSendStatus() != SendStatus.SEND_OK) {
      throw failed(
          new IOException(
              message("appending")
                  + ": the broker has the message at offset "
                  + result.getQueueOffset()
                  + " and did not confirm it, "
                  + result.getSendStatus()));
    }
    return result.getQueueOffset();
  }

  private SendResult send(MQClientAPIImpl api, String broker, byte[] body)
      throws RemotingException, MQBrokerException, InterruptedException {
    Message message = new Message(queue.getTopic(), body);
    MessageClientIDSetter.setUniqID(message);
    SendMessageRequestHeader header = new SendMessageRequestHeader();
    header.setProducerGroup(producer.getProducerGroup());
    header.setTopic(queue.getTopic());
    header.setDefaultTopic(producer.getCreateTopicKey());
    header.setDefaultTopicQueueNums(producer.getDefaultTopicQueueNums());
    header.setQueueId(queue.getQueueId());
    header.setSysFlag(0);
    header.setBornTimestamp(wall.millis());
    header.setFlag(message.getFlag());
    header.setProperties(MessageDecoder.messageProperties2String(message.getProperties()));
    header.setReconsumeTimes(0);
    header.setUnitMode(false);
    header.setBatch(false);
    header.setBrokerName(queue.getBrokerName());
    return api.sendMessage(
        broker,
        queue.getBrokerName(),
        message,
        header,
        timeoutMillis,
        CommunicationMode.SYNC,
        null,
        producer.getDefaultMQProducerImpl());
  }

  @Override
  public List<Entry> read(long from) throws IOException, InterruptedException {
    return messages(from).stream()
        .map(message -> new Entry(message.getQueueOffset(), message.getBody()))
        .toList();
  }

  /**
   * Returns messages as {@link #read} does, with their store times and properties. None is
   * decompressed; each has a body.
   */
  public List<MessageExt> messages(long from) throws IOException, InterruptedException {
    long offset = from;
    while (true) {
      PullMessageRequestHeader header = pull(readerGroup, offset);
      PullResult result = call("reading at " + offset, (api, broker) -> pull(api, broker, header));
      switch (result.getPullStatus()) {
        case FOUND -> {
          return messages((PullResultExt) result);
        }
        case NO_NEW_MSG -> {
          return List.of();
        }
        case NO_MATCHED_MSG, OFFSET_ILLEGAL -> {
          // If messages were deleted, the broker returns the offset to continue at.
          if (result.getNextBeginOffset() <= offset) {
            return List.of();
          }
          offset = result.getNextBeginOffset();
        }
      }
    }
  }

  private PullMessageRequestHeader pull(String group, long offset) {
    PullMessageRequestHeader header = new PullMessageRequestHeader();
    header.setConsumerGroup(group);
    header.setTopic(queue.getTopic());
    header.setBrokerName(queue.getBrokerName());
    header.setQueueId(queue.getQueueId());
    header.setQueueOffset(offset);
    header.setMaxMsgNums(MAX_MESSAGES);
    header.setSysFlag(PullSysFlag.buildSysFlag(false, false, true, false));
    header.setCommitOffset(0L);
    header.setSuspendTimeoutMillis(0L);
    header.setSubscription("*");
    header.setSubVersion(0L);
    header.setExpressionType(ExpressionType.TAG);
    return header;
  }

  private PullResult pull(MQClientAPIImpl api, String broker, PullMessageRequestHeader header)
      throws RemotingException, MQBrokerException, InterruptedException {
    return api.pullMessage(broker, header, timeoutMillis, CommunicationMode.SYNC, null);
  }

  private static List<MessageExt> messages(PullResultExt result) {
    ByteBuffer binary = ByteBuffer.wrap(result.getMessageBinary());
    // Nothing is decompressed: the journal's messages are not compressed. A foreign message could
    // be large then or unreadable, and an unreadable one would hide all later messages.
    List<MessageExt> messages = MessageDecoder.decodesBatch(binary, true, false, true);
    for (MessageExt message : messages) {
      if (message.getBody() == null) {
        message.setBody(EMPTY);
      }
    }
    return messages;
  }

  @Override
  public long begin() throws IOException, InterruptedException {
    return call(
        "asking for its begin", (api, broker) -> api.getMinOffset(broker, queue, timeoutMillis));
  }

  @Override
  public long end() throws IOException, InterruptedException {
    return call(
        "asking for its end", (api, broker) -> api.getMaxOffset(broker, queue, timeoutMillis));
  }

  @Override
  public long offsetAt(long unixMillis) throws IOException, InterruptedException {
    return call(
        "asking for its offset at a time",
        (api, broker) -> api.searchOffset(broker, queue, unixMillis, timeoutMillis));
  }

  @Override
  public long mark(String group) throws IOException, InterruptedException {
    QueryConsumerOffsetRequestHeader header = new QueryConsumerOffsetRequestHeader();
    header.setConsumerGroup(group);
    header.setTopic(queue.getTopic());
    header.setBrokerName(queue.getBrokerName());
    header.setQueueId(queue.getQueueId());
    // Otherwise the broker invents an offset.
    header.setSetZeroIfNotFound(false);
    return call(
        "asking for the offset of group " + group,
        (api, broker) -> {
          try {
            return api.queryConsumerOffset(broker, header, timeoutMillis);
          } catch (OffsetNotFoundException e) {
            return NONE;
          }
        });
  }

  @Override
  public void mark(String group, long offset) throws IOException, InterruptedException {
    UpdateConsumerOffsetRequestHeader header = new UpdateConsumerOffsetRequestHeader();
    header.setConsumerGroup(group);
    header.setTopic(queue.getTopic());
    header.setBrokerName(queue.getBrokerName());
    header.setQueueId(queue.getQueueId());
    header.setCommitOffset(offset);
    call(
        "marking " + offset + " for group " + group,
        (api, broker) -> {
          try {
            api.updateConsumerOffset(broker, header, timeoutMillis);
          } catch (MQBrokerException e) {
            if (e.getResponseCode() != ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST) {
              throw e;
            }
            // A broker that creates groups automatically does so for readers.
            pull(api, broker, pull(group, offset));
            api.updateConsumerOffset(broker, header, timeoutMillis);
          }
          return offset;
        });
  }
}
