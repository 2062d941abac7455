package org.traceetl.perf.bench.edges;

import java.util.Comparator;

/**
 * A direction of requests.
 *
 * @param type the connection type as pages show it: one of the constants
 */
public record Edge(String client, String server, String type) implements Comparable<Edge> {
  static final String CALL = "";
  static final String MESSAGE = "messaging_system";
  static final String DATABASE = "database";
  static final String VIRTUAL = "virtual_node";

  private static final Comparator<Edge> ORDER =
      Comparator.comparing(Edge::client).thenComparing(Edge::server).thenComparing(Edge::type);

  /** Returns whether both ends send spans. */
  public boolean isBetweenApplications() {
    return type.equals(CALL) || type.equals(MESSAGE);
  }

  @Override
  public int compareTo(Edge other) {
    return ORDER.compare(this, other);
  }
}
