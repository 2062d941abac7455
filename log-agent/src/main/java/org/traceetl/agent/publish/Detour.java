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
 * Selects the queues for new spans. It avoids brokers that have been unreachable for some time, and
 * brokers whose batches exceed their share of the spool. Existing batches keep their queues.
 * Confined to the publisher thread.
 */
final class Detour {
  private final long afterNanos;
  private final ToDoubleFunction<String> partOfSpool;
  private final Set<String> overPart = new HashSet<>();

  /**
   * @param afterNanos how long a broker is unreachable before it is avoided
   * @param partOfSpool the share of the spool that a broker's batches use, from 0 to 1
   */
  Detour(long afterNanos, ToDoubleFunction<String> partOfSpool) {
    this.afterNanos = afterNanos;
    this.partOfSpool = partOfSpool;
  }

  /**
   * Returns the queues to route to; all queues if every broker would be avoided.
   *
   * @param awaySinceNanos when each unreachable broker became so
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
    // If all brokers are unreachable, that alone avoids none of them.
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
