package org.traceetl.server.journal;

import java.io.IOException;

/** A log was read whole, and no message of it bears a code of a key that this server has. */
final class UnverifiedLogException extends IOException {
  private static final long serialVersionUID = 1;

  UnverifiedLogException(String message) {
    super(message);
  }
}
