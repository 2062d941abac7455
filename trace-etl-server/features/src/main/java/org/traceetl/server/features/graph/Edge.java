package org.traceetl.server.features.graph;

import org.traceetl.server.minutes.MinuteColumns;

/** The last hour of an edge, or of the rest of a client. Guarded by the service graph. */
final class Edge {
  final EdgeName name;
  final MinuteColumns.Minutes minutes = new MinuteColumns.Minutes();

  /** Number of its live series in all queues. */
  int series;

  Edge(EdgeName name) {
    this.name = name;
  }
}
