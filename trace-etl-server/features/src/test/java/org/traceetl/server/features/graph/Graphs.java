package org.traceetl.server.features.graph;

import java.time.InstantSource;
import java.util.SplittableRandom;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.http.Feature;
import org.traceetl.server.window.QueueId;

/** Service graphs without journals. */
public final class Graphs {
  private Graphs() {}

  /**
   * Returns a feature with a small graph in the last complete minute: calls, unpaired spans,
   * virtual nodes and a rest. Twenty minutes before, fewer calls failed.
   */
  public static Feature feature(InstantSource clock) {
    long[] boundsNanos = {10_000_000, 100_000_000};
    ServiceGraph graph = new ServiceGraph(10, boundsNanos, 1, clock, new SplittableRandom(1));
    EdgeQueue queue = new EdgeQueue(new QueueId("a", 0), 1, boundsNanos.length + 1);
    graph.window(queue.call("shop", "pay", 60, 5).seal(clock.millis() - 1_200_000));
    queue.ofUser("shop", 30).call("shop", "pay", 60, 15).toNode("pay", "db", "database", 20);
    queue.count("shop", "", null, EdgeMeasure.UNPAIRED_CLIENT, 15);
    queue.count("pay", null, null, EdgeMeasure.REQUESTS, 6);
    graph.window(queue.seal(clock.millis() - 60_000));
    return new GraphFeature(graph, null);
  }
}
