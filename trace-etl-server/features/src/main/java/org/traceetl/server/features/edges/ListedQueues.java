package org.traceetl.server.features.edges;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.server.window.QueueId;

/**
 * Selects the queues of the list, look by look. A queue is added when a look finds it. It is
 * removed after all looks of {@link #REMOVED_AFTER} have missed it.
 *
 * <p>Each change separates the halves of edges that are open at that moment. A broker that restarts
 * or changes its master is back within minutes, and agents keep its half-edges until then: nothing
 * is lost if the list stays. A broker that is away for longer must not hold back its part of the
 * edges.
 *
 * <p>Not thread-safe.
 */
final class ListedQueues {
  /**
   * How long a queue is missing before it is removed. Above the two minutes after which name
   * servers remove a silent broker, and the time in which a broker recovers its files at a start.
   */
  static final Duration REMOVED_AFTER = Duration.ofMinutes(10);

  /** When the first of the consecutive looks missed a queue. */
  private final Map<QueueId, Long> missingSinceNanos = new HashMap<>();

  /**
   * Returns the queues that the list should have. If a record cannot contain all, queues that are
   * listed take precedence, then the lower ones.
   *
   * @param listed queues of the record in force
   * @param present queues of the topic
   */
  SortedSet<QueueId> look(Set<QueueId> listed, Set<QueueId> present, long nowNanos) {
    missingSinceNanos.keySet().retainAll(listed);
    missingSinceNanos.keySet().removeAll(present);
    SortedSet<QueueId> next = new TreeSet<>(listed);
    next.removeIf(queue -> !present.contains(queue) && isRemoved(queue, nowNanos));
    Set<String> brokers = new HashSet<>();
    next.forEach(queue -> brokers.add(queue.broker()));
    for (QueueId queue : new TreeSet<>(present)) {
      String broker = queue.broker();
      boolean room =
          next.size() < EdgeQueues.MAX_QUEUES
              && EdgeQueues.takes(broker)
              && (brokers.size() < EdgeQueues.MAX_BROKERS || brokers.contains(broker));
      if (room) {
        next.add(queue);
        brokers.add(broker);
      }
    }
    return next;
  }

  private boolean isRemoved(QueueId missing, long nowNanos) {
    Long before = missingSinceNanos.putIfAbsent(missing, nowNanos);
    return before != null && nowNanos - before >= REMOVED_AFTER.toNanos();
  }

  /** Forgets which queues were missing, because a look failed or was left out. */
  void forget() {
    missingSinceNanos.clear();
  }
}
