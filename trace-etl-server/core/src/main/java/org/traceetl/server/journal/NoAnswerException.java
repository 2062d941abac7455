package org.traceetl.server.journal;

import java.io.IOException;

/** Thrown when a log's broker does not answer, but not when it refuses a request. */
public final class NoAnswerException extends IOException {
  private static final long serialVersionUID = 1L;

  public NoAnswerException(String message, Throwable cause) {
    super(message, cause);
  }
}
