package org.traceetl.perf.simulate.world;

/** A program that runs in the simulation did what it must not do; the simulation itself works. */
public final class ProgramFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  public ProgramFailure(String message) {
    super(message);
  }

  ProgramFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
