package org.traceetl.server.ozhera.delta;

import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.ozhera.delta.series.Deltas;
import org.traceetl.server.window.SealedWindow;

/** Adds up the windows that the previous owner of a queue did not deliver to a scraper. */
final class MissedWindows {
  private final ScraperSession scraper;
  private final long position;
  private final long until;
  private Deltas deltas = Deltas.NONE;

  /** Offset after the last window that the scraper received or that is added here. */
  private long at;

  private long lostMessages;

  /**
   * @param position offset up to which the scraper received windows, or {@link JournalLog#NONE}
   * @param until offset from which this process has the windows itself
   */
  MissedWindows(ScraperSession scraper, long position, long until) {
    this.scraper = scraper;
    this.position = position;
    this.until = until;
    at = position;
  }

  /** Returns false also for a position that is ahead: it belongs to a deleted topic. */
  boolean isBehind() {
    return position != JournalLog.NONE && until != JournalLog.NONE && position < until;
  }

  /**
   * Adds the next window of the journal.
   *
   * @param added null if the window cannot be delivered
   */
  void add(SealedWindow window, Deltas added) {
    if (!isBehind() || window.from() < at || at >= until) {
      return;
    }
    skip(window.from());
    if (added == null) {
      lostMessages += window.to() - at;
    } else {
      deltas = deltas.plus(added);
    }
    at = window.to();
  }

  private void skip(long to) {
    // At position 0 no earlier window exists.
    if (to > at && at > 0) {
      lostMessages += to - at;
    }
    at = to;
  }

  /** Returns the messages whose counts are lost to the scraper. Called after the last window. */
  long lostMessages() {
    if (isBehind() && at < until) {
      skip(until);
    }
    return lostMessages;
  }

  ScraperSession scraper() {
    return scraper;
  }

  long position() {
    return position;
  }

  Deltas deltas() {
    return deltas;
  }
}
