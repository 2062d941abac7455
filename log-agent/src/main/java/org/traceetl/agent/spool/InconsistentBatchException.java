package org.traceetl.agent.spool;

/**
 * Thrown instead of writing a batch that a reader would reject, or that has the name of another
 * one: a fault of the program. Nothing of its frame is kept.
 */
public final class InconsistentBatchException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public InconsistentBatchException(String message) {
    super(message);
  }
}
