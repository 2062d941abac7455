package org.traceetl.agent.route;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The queues of the topic at one moment, sorted, with their hashes. Immutable. */
public final class Topology {
  private final List<BrokerQueue> queues;
  private final long[] hashes;

  /** Creates a topology from queues in any order. */
  public Topology(Collection<BrokerQueue> queues) {
    List<BrokerQueue> sorted = new ArrayList<>(queues);
    sorted.sort(null);
    this.queues = List.copyOf(sorted);
    this.hashes = this.queues.stream().mapToLong(RouteHash::queue).toArray();
  }

  /** Returns the queues, sorted by broker and number. */
  public List<BrokerQueue> queues() {
    return queues;
  }

  long hash(int queue) {
    return hashes[queue];
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Topology that && queues.equals(that.queues);
  }

  @Override
  public int hashCode() {
    return queues.hashCode();
  }
}
