package org.traceetl.agent.publish;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;

/**
 * Picks the queues that new spans are routed to: not those of a broker that has been away for a
 * while, nor those of a broker whose batches take more than its part of the spool. Batches that
 * have a queue keep it. Owned by the publisher's thread.
 */
final class Detour {
  private final long afterNanos;
  private final ToDoubleFunction<String> partOfSpool;
  private final Set<String> overPart = new HashSet<>();

  /**
   * @param afterNanos how long a broker is away before it is left
   * @param partOfSpool the part of the spool that a broker's batches take, from 0 to 1
   */
  Detour(long afterNanos, ToDoubleFunction<String> partOfSpool) {
    this.afterNanos = afterNanos;
    this.partOfSpool = partOfSpool;
  }

  /**
   * The queues to route to; all when no broker is better than another.
   *
   * @param awaySinceNanos since when brokers that are away have been
   */
  Topology around(Topology all, Map<String, Long> awaySinceNanos, long nowNanos) {
    Set<String> brokers =
        all.queues().stream().map(BrokerQueue::broker).collect(Collectors.toSet());
    double part = 1.0 / Math.max(1, brokers.size());
    for (String broker : brokers) {
      double used = partOfSpool.applyAsDouble(broker);
      if (used > part) {
        overPart.add(broker);
      } else if (used < part / 2) {
        overPart.remove(broker);
      }
    }
    overPart.retainAll(brokers);
    boolean anyLives =
        brokers.stream()
            .anyMatch(broker -> !awaySinceNanos.containsKey(broker) && !overPart.contains(broker));
    // When all are away none is left for it: the others would only be left a little later.
    Predicate<String> isLeft =
        broker ->
            overPart.contains(broker)
                || (anyLives
                    && awaySinceNanos.containsKey(broker)
                    && nowNanos - awaySinceNanos.get(broker) >= afterNanos);
    List<BrokerQueue> queues =
        all.queues().stream().filter(queue -> !isLeft.test(queue.broker())).toList();
    return queues.isEmpty() || queues.size() == all.queues().size() ? all : new Topology(queues);
  }
}
