package org.traceetl.server.compare;

import java.time.Duration;
import java.time.Instant;

/**
 * The panes of a comparison: those of the range, and before and after it those in which the other
 * side may count the same spans.
 *
 * @param startMillis start of the first pane
 * @param paneMillis length of a pane
 * @param settle panes before the range, and as many after it
 * @param count panes of the range
 */
record Panes(long startMillis, long paneMillis, int settle, int count) {

  /** Returns panes that end with the range. The range and the time to settle are rounded up. */
  static Panes of(Instant end, Duration range, Duration pane, Duration settle) {
    long paneMillis = pane.toMillis();
    int count = Math.toIntExact(Math.ceilDiv(range.toMillis(), paneMillis));
    int before = Math.toIntExact(Math.ceilDiv(settle.toMillis(), paneMillis));
    return new Panes(end.toEpochMilli() - (count + before) * paneMillis, paneMillis, before, count);
  }

  int size() {
    return count + 2 * settle;
  }

  /** Returns the pane of a time; a pane has its end and not its start. */
  int indexOf(long millis) {
    long index = Math.ceilDiv(millis - startMillis, paneMillis) - 1;
    return Math.clamp(index, 0, size() - 1);
  }

  /** Returns the end of a pane; that of pane -1 is the start of the first one. */
  Instant endOf(int pane) {
    return Instant.ofEpochMilli(startMillis + (pane + 1) * paneMillis);
  }

  Instant rangeStart() {
    return endOf(settle - 1);
  }

  Instant rangeEnd() {
    return endOf(settle + count - 1);
  }

  Duration length() {
    return Duration.ofMillis(size() * paneMillis);
  }
}
