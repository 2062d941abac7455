package org.traceetl.agent.route;

import java.util.List;
import java.util.stream.IntStream;
import org.traceetl.proto.EdgeKey;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.EdgeSlots;

/**
 * The queue of each half-edge, by the {@link EdgeSlots} of a list, so that both halves of an edge
 * reach one queue. Immutable.
 */
public final class EdgeRoute {
  /** No queues: half-edges are not sent. */
  public static final EdgeRoute NONE = new EdgeRoute(EdgeQueues.NONE);

  private final EdgeSlots slots;
  private final Topology topology;

  public EdgeRoute(EdgeQueues list) {
    slots = new EdgeSlots(list);
    topology =
        new Topology(
            IntStream.range(0, slots.queues())
                .mapToObj(place ->
                    new BrokerQueue(
                        BrokerQueue.Topic.EDGES, slots.broker(place), slots.number(place)))
                .toList());
  }

  /** Returns whether there are no queues. */
  public boolean isEmpty() {
    return slots.queues() == 0;
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
    return slots.place(EdgeKey.slot(key));
  }
}
