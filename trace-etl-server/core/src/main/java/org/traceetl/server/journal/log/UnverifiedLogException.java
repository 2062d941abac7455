package org.traceetl.server.journal.log;

import java.io.IOException;

/** Thrown if no message of a log has a valid code of a key that this server has. */
public final class UnverifiedLogException extends IOException {
  private static final long serialVersionUID = 1;

  UnverifiedLogException(String message) {
    super(message);
  }
}
