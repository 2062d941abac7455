package org.traceetl.server.features.deploys;

import org.traceetl.server.minutes.MinuteColumns;

/** Calls of an operation of a version by slot. Guarded by {@link Versions}. */
final class VersionCalls {
  final String application;
  final String version;
  final Operation operation;
  final MinuteColumns.Minutes slots = new MinuteColumns.Minutes();

  VersionCalls(String application, String version, Operation operation) {
    this.application = application;
    this.version = version;
    this.operation = operation;
  }
}
