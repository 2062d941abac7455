package org.traceetl.server.features.graph;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The edges of all queues in the last hour, each name stored once. Not thread-safe.
 *
 * <p>Bounded: series that are created above the limit of edges count in the rest of their client as
 * long as they live; if there are as many rests, in {@link EdgeName#OTHER}. An edge without live
 * series and without requests for an hour is removed.
 */
final class Edges {
  private final int max;
  private final Map<EdgeName, Edge> all = new HashMap<>();
  private int rests;
  private long merged;

  /**
   * @param max maximum number of edges; as many clients may have a rest
   */
  Edges(int max) {
    this.max = max;
  }

  /** Returns the edge of a new series, which is counted in {@link Edge#series}. */
  Edge retain(SeriesDefinition definition, EdgeMeasure measure) {
    EdgeName name = EdgeName.of(definition, measure);
    if (!name.isRest() && !all.containsKey(name) && size() >= max) {
      // Each edge has this measure, so it counts once for its values of dimensions.
      merged += measure == EdgeMeasure.REQUESTS ? 1 : 0;
      name = EdgeName.rest(name.client());
    }
    if (name.isRest() && !all.containsKey(name) && rests >= max) {
      name = EdgeName.OTHER;
    }
    Edge edge = all.get(name);
    if (edge == null) {
      edge = new Edge(name);
      all.put(name, edge);
      rests += name.isRest() ? 1 : 0;
    }
    edge.series++;
    return edge;
  }

  /** Removes edges without live series and without requests since a minute. */
  void sweep(long oldest) {
    all.values()
        .removeIf(edge -> {
          boolean ended = edge.series == 0 && edge.minutes.endedBefore(oldest);
          rests -= ended && edge.name.isRest() ? 1 : 0;
          return ended;
        });
  }

  /** Returns all edges, and the rests of clients. */
  Collection<Edge> all() {
    return all.values();
  }

  /** Returns the number of edges. */
  int size() {
    return all.size() - rests;
  }

  /** Returns how many edges of a queue were above the limit. */
  long merged() {
    return merged;
  }
}
