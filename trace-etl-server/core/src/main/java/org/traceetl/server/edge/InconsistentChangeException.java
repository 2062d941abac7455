package org.traceetl.server.edge;

/** Thrown for a change that contradicts the table to which it is applied. */
public final class InconsistentChangeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  InconsistentChangeException(String message) {
    super(message);
  }
}
