package org.traceetl.agent.route;

import java.util.stream.IntStream;

/** Topologies of one broker. */
public final class TestTopology {
  private TestTopology() {}

  /** Returns queues 0 to n - 1 of {@code broker-a}. */
  public static Topology topology(int queues) {
    return new Topology(
        IntStream.range(0, queues).mapToObj(i -> new BrokerQueue("broker-a", i)).toList());
  }
}
