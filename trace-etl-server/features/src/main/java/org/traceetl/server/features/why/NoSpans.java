package org.traceetl.server.features.why;

import java.io.IOException;

/** The messages that were read have no spans that are asked for. The message is for people. */
final class NoSpans extends IOException {
  private static final long serialVersionUID = 1L;

  private final String where;

  /**
   * @param counts what was read instead, of all applications
   */
  NoSpans(String where, String counts) {
    super(where + counts);
    this.where = where;
  }

  /** Returns the message without numbers of other applications. */
  String withoutCounts() {
    return where;
  }
}
