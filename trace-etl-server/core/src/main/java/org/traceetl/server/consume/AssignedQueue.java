package org.traceetl.server.consume;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.server.consume.ownership.QueueOwnership;
import org.traceetl.server.consume.ownership.QueueSealing;
import org.traceetl.server.consume.ownership.RetrySchedule;
import org.traceetl.server.consume.ownership.UnreadReason;
import org.traceetl.server.window.QueueId;

/**
 * A queue that RocketMQ assigned to a worker, and the state of its take-over. Confined to the
 * worker's thread, except the volatile fields.
 */
final class AssignedQueue {
  /** A message whose recording fails this often is rejected, so that its queue continues. */
  static final int MAX_FAILURES = 3;

  /** Pauses before a queue is taken over again after the journal refused a window. */
  private static final Duration FIRST_REFUSAL = Duration.ofSeconds(20);

  private static final Duration LAST_REFUSAL = Duration.ofMinutes(5);

  final MessageQueue queue;
  final QueueId id;
  long notBeforeNanos;
  QueueOwnership.Recovered recovered;

  /** Why a queue is not read, if its ownership does not know it; null for none. */
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

  /** Start of the last window that the journal refused, and the pauses while it refuses it. */
  private long refusedWindow = QueueSealing.NONE;

  private RetrySchedule refusals;

  AssignedQueue(MessageQueue queue, long nowNanos) {
    this.queue = queue;
    id = new QueueId(queue.getBrokerName(), queue.getQueueId());
    notBeforeNanos = nowNanos;
  }

  /** Counts a failure to record a message; returns the number of its failures. */
  int failed(long offset) {
    return failures.merge(offset, 1, Integer::sum);
  }

  /** Counts a refused window; pauses double while the window at this offset is refused. */
  void refused(long from, long nowNanos) {
    if (from != refusedWindow) {
      refusedWindow = from;
      refusals = new RetrySchedule(FIRST_REFUSAL, LAST_REFUSAL);
    }
    refusals.failed(nowNanos);
    notBeforeNanos = nowNanos + refusals.leftNanos(nowNanos);
    unread = UnreadReason.REFUSED;
  }

  /** Returns the start of the last window that was refused, or {@link QueueSealing#NONE}. */
  long refusedWindow() {
    return refusedWindow;
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
