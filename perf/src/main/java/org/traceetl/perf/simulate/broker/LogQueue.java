package org.traceetl.perf.simulate.broker;

/**
 * A queue of a broker.
 *
 * @param topic index of its topic
 * @param queue number within the broker
 */
record LogQueue(int topic, int queue) implements Comparable<LogQueue> {
  @Override
  public int compareTo(LogQueue other) {
    return topic == other.topic
        ? Integer.compare(queue, other.queue)
        : Integer.compare(topic, other.topic);
  }
}
