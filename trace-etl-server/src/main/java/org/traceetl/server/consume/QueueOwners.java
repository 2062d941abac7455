package org.traceetl.server.consume;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.traceetl.server.window.QueueId;

/**
 * Which queues are in the hands of a worker of this process. RocketMQ tells a queue's new owner and
 * its old one at different times; here the new one waits until the old one's last window is kept,
 * so that within a process nothing is read twice and sinks hear of the release before they hear of
 * the new owner. That holds as well where the two are one and the same worker: a queue lost and got
 * back at once is taken over like any other. Thread-safe.
 */
final class QueueOwners {
  private final Set<QueueId> taken = ConcurrentHashMap.newKeySet();
  private final Map<QueueId, Long> keptTo = new ConcurrentHashMap<>();

  /** Takes the queue into the caller's hands; false if it is in somebody's, also the caller's. */
  boolean acquire(QueueId queue) {
    return taken.add(queue);
  }

  /** Offset to which a former owner in this process got its windows kept, or -1. */
  long keptTo(QueueId queue) {
    return keptTo.getOrDefault(queue, -1L);
  }

  /** Ends what one {@link #acquire} began. */
  void release(QueueId queue, long offset) {
    keptTo.merge(queue, offset, Math::max);
    taken.remove(queue);
  }
}
