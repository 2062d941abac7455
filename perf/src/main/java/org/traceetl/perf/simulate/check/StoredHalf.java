package org.traceetl.perf.simulate.check;

/** A half-edge of a batch that a broker stored, once or several times. */
final class StoredHalf {
  private final HalfEdge half;
  private final String queue;
  private final StoreTime first;
  private StoreTime last;
  private boolean atRisk;

  /**
   * When a broker stored a message.
   *
   * @param nanos the true time
   * @param clockSteps number of steps of brokers' clocks before it
   */
  record StoreTime(long nanos, int clockSteps) {}

  StoredHalf(HalfEdge half, String queue, StoreTime first) {
    this.half = half;
    this.queue = queue;
    this.first = first;
    last = first;
  }

  HalfEdge half() {
    return half;
  }

  String queue() {
    return queue;
  }

  StoreTime first() {
    return first;
  }

  StoreTime last() {
    return last;
  }

  /** Records that the batch was stored again. */
  void storedAgain(StoreTime again) {
    last = again;
  }

  /** Returns whether servers may have read messages of its time again. */
  boolean isAtRisk() {
    return atRisk;
  }

  void setAtRisk() {
    atRisk = true;
  }
}
