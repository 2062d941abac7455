package org.traceetl.server.journal.chain;

import java.io.IOException;
import org.traceetl.server.journal.format.UnknownVersionException;

/**
 * Thrown if the next record of a log has a version that this server does not know. Unlike other
 * read errors, this one is permanent.
 */
public final class LaterVersionException extends IOException {
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
