package org.traceetl.server.window;

/** A queue of the span topic. */
public record QueueId(String broker, int queue) implements Comparable<QueueId> {
  @Override
  public int compareTo(QueueId other) {
    int byBroker = broker.compareTo(other.broker);
    return byBroker != 0 ? byBroker : Integer.compare(queue, other.queue);
  }

  /** Returns {@code broker/queue}, as in labels and logs. */
  @Override
  public String toString() {
    return broker + "/" + queue;
  }
}
