package org.traceetl.agent.route;

import java.util.Map;
import java.util.stream.IntStream;
import org.traceetl.proto.EdgeQueues;

/** Topologies, and queues of half-edges, of one broker. */
public final class TestTopology {
  private TestTopology() {}

  /** Returns queues 0 to n - 1 of {@code broker-a}. */
  public static Topology topology(int queues) {
    return new Topology(
        IntStream.range(0, queues).mapToObj(i -> new BrokerQueue("broker-a", i)).toList());
  }

  /** Returns a list with queues 0 to n - 1 of {@code broker-a}. */
  public static EdgeQueues edgeQueues(int queues) {
    return new EdgeQueues(
        1,
        1,
        queues == 0
            ? Map.of()
            : Map.of("broker-a", new EdgeQueues.Queues(IntStream.range(0, queues).toArray())));
  }
}
