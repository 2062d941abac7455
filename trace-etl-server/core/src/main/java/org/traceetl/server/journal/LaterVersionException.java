package org.traceetl.server.journal;

import java.io.IOException;

/**
 * Thrown if the next record of a log has a version that this server does not know. Unlike other
 * read errors, this one is permanent.
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
