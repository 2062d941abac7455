package org.traceetl.perf.simulate.broker;

import java.net.InetSocketAddress;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A stored message. Replicas share it, as they have the same bytes: also the store time and the
 * address of the master that stored it first.
 *
 * @param place in the broker's commit log, of all topics and queues
 * @param body not copied
 * @param storeMillis by the clock of the broker
 * @param storeNanos the true time
 * @param visibleNanos from when it can be read at its master, if it is confirmed
 */
record Message(
    LogQueue queue,
    long offset,
    long place,
    byte[] body,
    long bornMillis,
    InetSocketAddress bornHost,
    long storeMillis,
    long storeNanos,
    InetSocketAddress storeHost,
    long visibleNanos) {

  /**
   * Returns the message as RocketMQ's client does.
   *
   * @param min offset of the oldest message of its queue
   * @param max offset after the newest one
   */
  MessageExt received(String topic, String broker, long min, long max) {
    MessageExt received = new MessageExt();
    received.setTopic(topic);
    received.setBrokerName(broker);
    received.setQueueId(queue.queue());
    received.setQueueOffset(offset);
    received.setCommitLogOffset(place);
    received.setBody(body);
    received.setStoreSize(body.length);
    received.setBornTimestamp(bornMillis);
    received.setBornHost(bornHost);
    received.setStoreTimestamp(storeMillis);
    received.setStoreHost(storeHost);
    // PullAPIWrapper.processPullResult adds both (RocketMQ 5.3).
    MessageAccessor.putProperty(received, MessageConst.PROPERTY_MIN_OFFSET, Long.toString(min));
    MessageAccessor.putProperty(received, MessageConst.PROPERTY_MAX_OFFSET, Long.toString(max));
    return received;
  }
}
