package org.traceetl.agent.route;

import java.util.Comparator;
import org.traceetl.agent.config.PublishConfig;

/**
 * A queue of a topic.
 *
 * @param broker name of its broker
 * @param id its number on that broker, from 0
 */
public record BrokerQueue(Topic topic, String broker, int id) implements Comparable<BrokerQueue> {
  /** What the messages of a topic contain. */
  public enum Topic {
    /** Batches of spans. */
    SPANS,
    /** Batches of half-edges. */
    EDGES;

    /** Returns the topic's configured name. */
    public String name(PublishConfig config) {
      return switch (this) {
        case SPANS -> config.topic();
        case EDGES -> config.edgesTopic();
      };
    }
  }

  private static final Comparator<BrokerQueue> ORDER =
      Comparator.comparing(BrokerQueue::topic)
          .thenComparing(BrokerQueue::broker)
          .thenComparingInt(BrokerQueue::id);

  /** Creates a queue of the spans' topic. */
  public BrokerQueue(String broker, int id) {
    this(Topic.SPANS, broker, id);
  }

  @Override
  public int compareTo(BrokerQueue other) {
    return ORDER.compare(this, other);
  }

  /** Equal in all runs, unlike the hash of an enum, so that maps have the same order. */
  @Override
  public int hashCode() {
    return 31 * (31 * topic.ordinal() + broker.hashCode()) + id;
  }

  @Override
  public String toString() {
    return (topic == Topic.SPANS ? "" : "edges/") + broker + "-" + id;
  }
}
