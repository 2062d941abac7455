package org.traceetl.server.features.graph;

import java.util.Locale;

/** How the ends of an edge are connected: its label {@code connection_type}. */
enum Connection {
  /** A call between two applications. Series have no type for it. */
  NONE,

  /** A message between two applications. */
  MESSAGING_SYSTEM,

  /** A call of a database, which sends no spans. */
  DATABASE,

  /** Requests of which one end sends no spans. */
  VIRTUAL_NODE;

  private static final Connection[] ALL = values();

  private final String label = name().toLowerCase(Locale.ROOT);

  /**
   * Returns the connection of a type.
   *
   * @param type null for a call
   * @return {@link #NONE} for a type that a later release may have written
   */
  static Connection of(String type) {
    for (Connection connection : ALL) {
      if (connection.label.equals(type)) {
        return connection;
      }
    }
    return NONE;
  }

  /** Returns the type as in a series; {@code none} for a call. */
  String label() {
    return label;
  }
}
