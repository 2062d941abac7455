package org.traceetl.server.journal;

import java.io.IOException;

/**
 * A log cannot be read on: its next record is of a version that this server does not know. Unlike
 * other failures to read, it does not pass by itself.
 */
final class LaterVersionException extends IOException {
  private static final long serialVersionUID = 1;

  private final long offset;

  /**
   * @param offset of the message that stops readers
   */
  LaterVersionException(long offset, String message, UnknownVersionException why) {
    super(message, why);
    this.offset = offset;
  }

  long offset() {
    return offset;
  }
}
