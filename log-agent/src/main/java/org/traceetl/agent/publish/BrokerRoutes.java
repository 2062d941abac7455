package org.traceetl.agent.publish;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;

/**
 * The topic's brokers: which ones are unreachable, and which ones get new spans. Confined to the
 * publisher thread, except where stated.
 */
final class BrokerRoutes {
  private static final Logger log = LoggerFactory.getLogger(BrokerRoutes.class);

  // Null if new batches wait for avoided brokers, too.
  private final Detour detour;
  private final Map<String, Long> awaySinceNanos = new HashMap<>();
  // Null until the queues are known.
  private Topology topology;
  private Topology routed;

  // Changed by the publisher thread only; the pipeline thread reads it.
  private final Set<String> away = ConcurrentHashMap.newKeySet();
  private volatile boolean available = true;
  private volatile int left;
  private volatile Consumer<Topology> listener = routed -> {};

  BrokerRoutes(Detour detour) {
    this.detour = detour;
  }

  /** Creates routes that avoid no broker. */
  static BrokerRoutes withoutDetour() {
    return new BrokerRoutes(null);
  }

  /** Sets the receiver of the queues for new spans. Safe for any thread. */
  void listener(Consumer<Topology> to) {
    listener = to;
  }

  /** Sets the topic's queues. */
  void topology(Topology now, long nowNanos) {
    topology = now;
    updateAvailable();
    route(nowNanos);
  }

  /** Routes new spans around avoided brokers; existing batches keep their queues. */
  void route(long nowNanos) {
    if (topology == null || detour == null) {
      return;
    }
    Topology now = detour.around(topology, awaySinceNanos, nowNanos);
    if (now.equals(routed)) {
      return;
    }
    routed = now;
    Set<String> avoided = brokers(topology);
    avoided.removeAll(brokers(now));
    if (avoided.size() != left) {
      log.warn(
          "New spans are not routed to {} of the topic's brokers, because they are unreachable"
              + " or their batches exceed their share of the spool: brokers={}",
          avoided.size(),
          avoided);
    }
    left = avoided.size();
    listener.accept(now);
  }

  private static Set<String> brokers(Topology topology) {
    return topology.queues().stream()
        .map(BrokerQueue::broker)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns whether the queue is in the topic. */
  boolean has(BrokerQueue queue) {
    return isKnown() && topology.queues().contains(queue);
  }

  /** Returns whether the topic's queues are known. */
  boolean isKnown() {
    return topology != null && !topology.queues().isEmpty();
  }

  /** Marks a broker as unreachable; returns false if it was already. */
  boolean away(String broker, long nowNanos) {
    boolean added = away.add(broker);
    if (added) {
      awaySinceNanos.put(broker, nowNanos);
      updateAvailable();
    }
    return added;
  }

  /** Marks a broker as reachable. */
  void reached(String broker) {
    if (away.remove(broker)) {
      awaySinceNanos.remove(broker);
      log.info("Broker {} is reachable again", broker);
      updateAvailable();
    }
  }

  /**
   * Treats all brokers without batches as reachable: without attempts, they would stay unreachable
   * for ever.
   */
  void reachedExcept(Set<String> busy) {
    if (away.retainAll(busy)) {
      awaySinceNanos.keySet().retainAll(busy);
      updateAvailable();
    }
  }

  /** Returns whether the broker is unreachable. Safe for any thread. */
  boolean isAway(String broker) {
    return away.contains(broker);
  }

  private void updateAvailable() {
    available = !isKnown() || !away.containsAll(brokers(topology));
  }

  /** Returns false while no broker of the topic can be reached. Safe for any thread. */
  boolean isAvailable() {
    return available;
  }

  /** Returns the number of brokers that get no new spans. Safe for any thread. */
  int left() {
    return left;
  }
}
