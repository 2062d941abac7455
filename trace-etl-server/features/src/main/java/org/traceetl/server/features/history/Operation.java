package org.traceetl.server.features.history;

/**
 * Spans of one name and kind, or of an objective, of an application. Confined to the follower's
 * thread.
 */
final class Operation {
  /** Kind of an objective, whose name is that of the objective. */
  static final String OBJECTIVE = "objective";

  final String application;
  final String name;
  final String kind;

  /** Number of live series of the operation in all queues; at 0 it is removed. */
  int series;

  /** The part of the pane that is being folded; null for nothing. */
  SpanSums sums;

  Operation(String application, String name, String kind) {
    this.application = application;
    this.name = name;
    this.kind = kind;
  }

  /** Returns whether the sums are those of good events: calls are all events, the sum good ones. */
  boolean isObjective() {
    return kind.equals(OBJECTIVE);
  }
}
