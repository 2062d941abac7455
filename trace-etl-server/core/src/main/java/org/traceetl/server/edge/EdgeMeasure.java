package org.traceetl.server.edge;

/**
 * What a series of an edge counts. Each measure of an edge is a series of its own: the application
 * is the client, the span name the server, and the kind {@link #kind}. A half counts as the number
 * of halves that it represents.
 *
 * <p>A <i>request</i> is a call or a message: a pair of halves, a half that needs no partner, or a
 * caller that expired, has not {@link #MOVED_CLIENT moved}, and names its peer.
 */
public enum EdgeMeasure {
  /** Requests. */
  REQUESTS(1),

  /** Requests of which a half failed. */
  FAILED(2),

  /** Requests whose duration at the server is known, and that duration. */
  SERVER(3),

  /** Requests whose duration at the client is known, and that duration. */
  CLIENT(4),

  /** Messages whose time between producer and consumer is known, and that time. */
  MESSAGING(5),

  /**
   * Requests whose durations at both ends are known, and the difference: that at the client less
   * that at the server, at least 0.
   */
  LATENCY(6),

  /** Callers that expired without a partner and without the name of a peer. */
  UNPAIRED_CLIENT(7),

  /** Callees that expired without a partner. The application is the server; no client is known. */
  UNPAIRED_SERVER(8),

  /** Callers that found no room. No server is known. */
  DROPPED_CLIENT(9),

  /** Callees that found no room. The application is the server; no client is known. */
  DROPPED_SERVER(10),

  /** As {@link #UNPAIRED_CLIENT}, but the list of queues changed: the partner may be in another. */
  MOVED_CLIENT(11),

  /** As {@link #UNPAIRED_SERVER}, but the list of queues changed. */
  MOVED_SERVER(12);

  private static final EdgeMeasure[] ALL = values();

  private final int kind;

  EdgeMeasure(int kind) {
    this.kind = kind;
  }

  /** Returns the number that represents it as the kind of a series, 1 to 15. Kept in journals. */
  public int kind() {
    return kind;
  }

  /** Returns whether it counts spans whose other end is unknown. */
  public boolean isOfOneEnd() {
    return ordinal() >= UNPAIRED_CLIENT.ordinal();
  }

  /** Returns whether the application is the server of the edge; otherwise it is the client. */
  public boolean isOfServer() {
    return this == UNPAIRED_SERVER || this == DROPPED_SERVER || this == MOVED_SERVER;
  }

  /** Returns the measure of a kind; null for none. Any number is allowed. */
  public static EdgeMeasure of(int kind) {
    for (EdgeMeasure measure : ALL) {
      if (measure.kind == kind) {
        return measure;
      }
    }
    return null;
  }
}
