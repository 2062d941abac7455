package org.traceetl.perf.simulate.server;

/** The values that a metric of a server may have. */
public record Bound(double least, double most) {
  /** Returns whether a value is within the bound; NaN is not. */
  boolean has(double value) {
    return value >= least && value <= most;
  }

  @Override
  public String toString() {
    return "from " + least + " to " + most;
  }
}
