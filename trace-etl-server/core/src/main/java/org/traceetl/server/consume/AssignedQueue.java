package org.traceetl.server.consume;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.server.window.QueueId;

/**
 * A queue that RocketMQ assigned to a worker, and the state of its take-over. Confined to the
 * worker's thread, except the volatile fields.
 */
final class AssignedQueue {
  /** A message whose recording fails this often is rejected, so that its queue continues. */
  static final int MAX_FAILURES = 3;

  final MessageQueue queue;
  final QueueId id;
  long notBeforeNanos;
  QueueOwnership.Recovered recovered;

  /** Why a queue that was taken over is not read; null if unknown. */
  volatile UnreadReason unread;

  /** Whether the queue was given up and is to be taken over again immediately. */
  boolean retaking;

  /** Null while the queue must not be taken over, or an earlier ownership has not ended. */
  volatile QueueOwnership ownership;

  /**
   * Number of failures to record a message, by offset. Contains only messages after the last kept
   * window. Each failure costs the queue a take-over, so there are few entries.
   */
  private final Map<Long, Integer> failures = new HashMap<>();

  AssignedQueue(MessageQueue queue, long nowNanos) {
    this.queue = queue;
    id = new QueueId(queue.getBrokerName(), queue.getQueueId());
    notBeforeNanos = nowNanos;
  }

  /** Counts a failure to record a message; returns the number of its failures. */
  int failed(long offset) {
    return failures.merge(offset, 1, Integer::sum);
  }

  /** Returns the messages after the last kept window that are not retried. */
  Set<Long> refusedFrom(long to) {
    failures.keySet().removeIf(offset -> offset < to);
    return failures.entrySet().stream()
        .filter(entry -> entry.getValue() >= MAX_FAILURES)
        .map(Map.Entry::getKey)
        .collect(Collectors.toUnmodifiableSet());
  }
}
