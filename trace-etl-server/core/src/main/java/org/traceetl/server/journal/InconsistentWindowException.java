package org.traceetl.server.journal;

/** Thrown for a window that contradicts itself or its journal, before any of it is written. */
public final class InconsistentWindowException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  public InconsistentWindowException(String message) {
    super(message);
  }
}
