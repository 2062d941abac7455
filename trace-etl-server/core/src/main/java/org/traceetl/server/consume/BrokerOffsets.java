package org.traceetl.server.consume;

import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;

/** What the brokers know of a consumer group's queues. Each question waits for its broker. */
interface BrokerOffsets {
  /** Instead of an offset: there is none. */
  long NONE = -1;

  /**
   * What the broker has of a queue.
   *
   * @param min offset of its oldest message
   * @param max offset after its newest message
   * @param committed the group's offset, or {@link #NONE}
   */
  record Range(long min, long max, long committed) {
    /**
     * Where to read on. May be below {@code min}: what is between was deleted and never read.
     *
     * @param kept offset to which the journal has the queue's windows, or {@link #NONE}: then the
     *     group's offset tells
     */
    long next(long kept) {
      long next = kept == NONE ? committed : kept;
      if (next > max) {
        // With a commit at hand the broker lost its tail: all it has was read. Without one it is
        // the topic that is new, as deleting a topic deletes its offsets, and nothing was read.
        next = committed == NONE ? NONE : max;
      }
      return next == NONE ? min : next;
    }
  }

  Range of(MessageQueue queue) throws MQClientException;

  /** The message at an offset; null if the broker has none there. */
  MessageExt message(MessageQueue queue, long offset) throws MQClientException;

  /** The address of the queue's master that is asked now; null if none is known. */
  String address(MessageQueue queue);

  /** Offset after the newest message. */
  long max(MessageQueue queue) throws MQClientException;

  /** The group's offset, or {@link #NONE}. */
  long committed(MessageQueue queue) throws MQClientException;

  void commit(MessageQueue queue, long offset)
      throws RemotingException, MQBrokerException, InterruptedException, MQClientException;
}
