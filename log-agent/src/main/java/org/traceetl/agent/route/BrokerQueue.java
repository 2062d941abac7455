package org.traceetl.agent.route;

import java.util.Comparator;

/**
 * A queue of the topic.
 *
 * @param broker name of its broker
 * @param id its number on that broker, from 0
 */
public record BrokerQueue(String broker, int id) implements Comparable<BrokerQueue> {
  private static final Comparator<BrokerQueue> ORDER =
      Comparator.comparing(BrokerQueue::broker).thenComparingInt(BrokerQueue::id);

  @Override
  public int compareTo(BrokerQueue other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return broker + "-" + id;
  }
}
