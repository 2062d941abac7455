package org.traceetl.perf.simulate.broker;

import java.net.InetSocketAddress;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.proto.BatchAges;

/**
 * A stored message. Replicas share it, as they have the same bytes: also the store time and the
 * address of the master that stored it first.
 *
 * @param place in the broker's commit log, of all topics and queues
 * @param body not copied
 * @param ages user property {@link BatchAges#PROPERTY}; null if it does not have it
 * @param storeMillis by the clock of the broker
 * @param storeNanos the true time
 * @param visibleNanos from when its master has indexed it, so that it can be read
 */
record Message(
    LogQueue queue,
    long offset,
    long place,
    byte[] body,
    String ages,
    long bornMillis,
    InetSocketAddress bornHost,
    long storeMillis,
    long storeNanos,
    InetSocketAddress storeHost,
    long visibleNanos) {

  /** Returns the message with this property. */
  Message with(String itsAges) {
    return new Message(
        queue,
        offset,
        place,
        body,
        itsAges,
        bornMillis,
        bornHost,
        storeMillis,
        storeNanos,
        storeHost,
        visibleNanos);
  }

  /**
   * Returns the message as RocketMQ's client does.
   *
   * @param min offset of the oldest message of its queue
   * @param max offset after the newest one
   */
  MessageExt received(MessageQueue from, String min, String max) {
    MessageExt received = new MessageExt();
    received.setTopic(from.getTopic());
    received.setBrokerName(from.getBrokerName());
    received.setQueueId(queue.queue());
    received.setQueueOffset(offset);
    received.setCommitLogOffset(place);
    received.setBody(body);
    received.setStoreSize(body.length);
    received.setBornTimestamp(bornMillis);
    received.setBornHost(bornHost);
    received.setStoreTimestamp(storeMillis);
    received.setStoreHost(storeHost);
    if (ages != null) {
      received.putUserProperty(BatchAges.PROPERTY, ages);
    }
    // PullAPIWrapper.processPullResult adds both (RocketMQ 5.5.0).
    MessageAccessor.putProperty(received, MessageConst.PROPERTY_MIN_OFFSET, min);
    MessageAccessor.putProperty(received, MessageConst.PROPERTY_MAX_OFFSET, max);
    return received;
  }
}
