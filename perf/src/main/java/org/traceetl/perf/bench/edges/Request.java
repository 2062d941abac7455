package org.traceetl.perf.bench.edges;

/**
 * A request as an edge counts it.
 *
 * @param serverNanos duration at the server, or {@link #UNKNOWN}
 * @param clientNanos duration at the client, or {@link #UNKNOWN}
 * @param times the number of requests that it represents
 */
record Request(boolean isFailed, long serverNanos, long clientNanos, int times) {
  static final long UNKNOWN = -1;

  Request(boolean isFailed, long serverNanos, long clientNanos) {
    this(isFailed, serverNanos, clientNanos, 1);
  }

  /** Returns the request with unknown durations of 0. */
  Request withZeros() {
    return new Request(isFailed, Math.max(0, serverNanos), Math.max(0, clientNanos), times);
  }

  /** Returns the request with the client's duration at the server. */
  Request withClientsAtServer() {
    return new Request(isFailed, clientNanos, clientNanos, times);
  }

  /** Returns the request with another weight. */
  Request times(int number) {
    return new Request(isFailed, serverNanos, clientNanos, number);
  }
}
