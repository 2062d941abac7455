package org.traceetl.server.features.graph;

import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.http.Access;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The name of an edge, or of the rest of a client. The rest has all that belongs to an application
 * and to no edge: requests above a limit, and unpaired spans.
 *
 * @param client name of an application, or {@code user}
 * @param server name of an application or of a virtual node; null for the rest
 * @param connection {@link Connection#NONE} for the rest
 */
record EdgeName(String client, String server, Connection connection) {
  /** The rest of clients above the limit. */
  static final EdgeName OTHER = new EdgeName(Books.OTHER, null, Connection.NONE);

  /** Position of the connection type among the values of a series. */
  private static final int TYPE = SeriesDefinition.FIXED_DIMENSIONS;

  /** Returns the name of the edge to which a series of this measure belongs. */
  static EdgeName of(SeriesDefinition definition, EdgeMeasure measure) {
    String application = definition.values().get(SeriesDefinition.APPLICATION);
    String server = definition.values().get(SeriesDefinition.SPAN_NAME);
    boolean isUnpaired = measure.isOfOneEnd();
    return isUnpaired || server == null
        ? rest(application)
        : new EdgeName(
            application,
            server,
            Connection.of(
                definition.values().size() > TYPE ? definition.values().get(TYPE) : null));
  }

  static EdgeName rest(String client) {
    return new EdgeName(client, null, Connection.NONE);
  }

  /** Returns whether the sender of a request may see the edge. */
  boolean isVisible(Access access) {
    return access.seesEdge(
        client, server, connection == Connection.DATABASE || connection == Connection.VIRTUAL_NODE);
  }

  boolean isRest() {
    return server == null;
  }
}
