package org.traceetl.server.consume.broker;

import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;

/** Offsets of a consumer group's queues at the brokers. Each call waits for its broker. */
public interface BrokerOffsets {
  /** Stands for a missing offset. */
  long NONE = -1;

  /**
   * The offsets of a queue at its broker.
   *
   * @param min offset of its oldest message
   * @param max offset after its newest message
   * @param committed the group's offset, or {@link #NONE}
   */
  record Range(long min, long max, long committed) {
    /**
     * Returns the offset to continue at. Unread messages between it and {@code min} were deleted.
     *
     * @param kept offset up to which the journal has windows, or {@link #NONE} to use the group's
     *     offset
     */
    public long next(long kept) {
      long next = kept == NONE ? committed : kept;
      if (next > max) {
        // If the group has a commit, the broker lost its tail: everything it has was read.
        // Otherwise the topic is new, as deleting a topic deletes its offsets, and nothing was
        // read.
        next = committed == NONE ? NONE : max;
      }
      return next == NONE ? min : next;
    }
  }

  Range of(MessageQueue queue) throws MQClientException;

  /** Returns the message at an offset; null if the broker has none. */
  MessageExt message(MessageQueue queue, long offset) throws MQClientException;

  /** Returns the address of the queue's master that calls currently go to; null if unknown. */
  String address(MessageQueue queue);

  /** Returns the offset after the newest message. */
  long max(MessageQueue queue) throws MQClientException;

  /** Returns the group's offset, or {@link #NONE}. */
  long committed(MessageQueue queue) throws MQClientException;

  void commit(MessageQueue queue, long offset)
      throws RemotingException, MQBrokerException, InterruptedException, MQClientException;
}
