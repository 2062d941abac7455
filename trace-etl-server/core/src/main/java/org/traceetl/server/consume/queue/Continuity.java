package org.traceetl.server.consume.queue;

import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.consume.broker.BrokerOffsets.Range;
import org.traceetl.server.window.LastMessages;

/** Determines up to where a broker still has the messages that were read. */
final class Continuity {
  /** At each place the broker has a different message, or none. */
  static final long NOWHERE = -1;

  /** The broker has deleted the newest message that was read, so it cannot be compared. */
  static final long DELETED = -2;

  private Continuity() {}

  /**
   * Compares the messages at the places with those of the broker, the last one first.
   *
   * @param read at least one place
   * @param range the offsets of the queue at the broker
   * @return the highest place whose message the broker has, {@link #NOWHERE} or {@link #DELETED}
   */
  static long unchangedTo(LastMessages read, MessageQueue queue, Range range, BrokerOffsets broker)
      throws MQClientException {
    int last = read.size() - 1;
    if (read.end(last) <= range.min()) {
      return DELETED;
    }
    if (isUnchanged(read, last, queue, range, broker)) {
      return read.end(last);
    }
    // If one message is unchanged, all before it are unchanged: binary search.
    int low = 0;
    while (read.end(low) <= range.min()) {
      low++;
    }
    int high = last;
    long unchanged = NOWHERE;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (isUnchanged(read, middle, queue, range, broker)) {
        unchanged = read.end(middle);
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return unchanged;
  }

  private static boolean isUnchanged(
      LastMessages read, int place, MessageQueue queue, Range range, BrokerOffsets broker)
      throws MQClientException {
    if (read.end(place) > range.max()) {
      return false;
    }
    MessageExt message = broker.message(queue, read.end(place) - 1);
    return message != null && MessageIdentity.of(message) == read.checksum(place);
  }
}
