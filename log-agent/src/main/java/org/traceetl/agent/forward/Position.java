package org.traceetl.agent.forward;

import java.util.Comparator;

/** A place in the buffer: an offset in a segment. */
record Position(long segment, long offset) implements Comparable<Position> {
  private static final Comparator<Position> ORDER =
      Comparator.comparingLong(Position::segment).thenComparingLong(Position::offset);

  @Override
  public int compareTo(Position other) {
    return ORDER.compare(this, other);
  }
}
