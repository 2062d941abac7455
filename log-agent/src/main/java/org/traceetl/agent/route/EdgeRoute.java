package org.traceetl.agent.route;

import java.util.List;
import org.traceetl.proto.EdgeKey;
import org.traceetl.proto.EdgeQueues;

/**
 * The queue of each half-edge: that with the highest weight for the slot of its key, so that both
 * halves of an edge reach one queue. Ties are resolved by broker and number. Immutable.
 */
public final class EdgeRoute {
  /** No queues: half-edges are not sent. */
  public static final EdgeRoute NONE = new EdgeRoute(EdgeQueues.NONE);

  private final Topology topology;
  // By slot: the place of its queue in the topology.
  private final int[] places;

  public EdgeRoute(EdgeQueues list) {
    topology =
        new Topology(
            list.brokers().entrySet().stream()
                .flatMap(broker ->
                    broker
                        .getValue()
                        .numbers()
                        .mapToObj(
                            id -> new BrokerQueue(BrokerQueue.Topic.EDGES, broker.getKey(), id)))
                .toList());
    places = new int[topology.queues().isEmpty() ? 0 : EdgeKey.SLOTS];
    for (int slot = 0; slot < places.length; slot++) {
      places[slot] = topology.heaviest(slot);
    }
  }

  /** Returns whether there are no queues. */
  public boolean isEmpty() {
    return places.length == 0;
  }

  /** Returns all queues, sorted by broker and number. */
  public List<BrokerQueue> queues() {
    return topology.queues();
  }

  /** Returns the queues as a topology. */
  public Topology topology() {
    return topology;
  }

  /**
   * Returns the place of a key's queue in {@link #queues}. Requires that there are queues.
   *
   * @param key from {@link EdgeKey#key}
   */
  public int place(long key) {
    return places[EdgeKey.slot(key)];
  }
}
