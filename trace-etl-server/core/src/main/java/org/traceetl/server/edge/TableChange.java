package org.traceetl.server.edge;

/**
 * Receives the difference between two states of a {@link HalfTable}: first the time, then the
 * halves that left, then those that were paired, then those that opened.
 *
 * <p>An open half has a number, at least 0 and below {@link HalfTable#MAX_CAPACITY}. The number is
 * given to another half when the half has left.
 */
public interface TableChange {
  /**
   * Sets the stream time of the later state.
   *
   * @param streamMillis milliseconds since 1970
   */
  void advanced(long streamMillis);

  /** A half that was open in the earlier state is not open in the later one. */
  void left(int number);

  /** A caller that was open without a partner in the earlier state is open and had a partner. */
  void paired(int number);

  /**
   * A half is open that was not open in the earlier state. Halves come in the order of their
   * arrival.
   *
   * @param half all its fields; valid during the call only
   */
  void opened(int number, Half half);
}
