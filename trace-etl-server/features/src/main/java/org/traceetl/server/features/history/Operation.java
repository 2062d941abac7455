package org.traceetl.server.features.history;

/** Spans of one name and kind of an application. The follower's thread alone. */
final class Operation {
  final String application;
  final String name;
  final String kind;

  /** Live series that count it, of all queues; without any it leaves. */
  int series;

  /** What the window at hand has of it; null for nothing. */
  SpanSums sums;

  Operation(String application, String name, String kind) {
    this.application = application;
    this.name = name;
    this.kind = kind;
  }
}
