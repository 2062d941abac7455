package org.traceetl.server.consume.queue;

import java.util.concurrent.TimeUnit;
import org.traceetl.proto.BatchAges;
import org.traceetl.server.window.OpenPanes;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowCompleteness;

/**
 * Decides until when the panes of one queue are closed: until its spans are complete, or until the
 * store time that the queue had reached {@code window.grace} of stream time ago, whichever is
 * later. The decision is written to the journal, so that all its readers close the same panes with
 * the same window. It never goes back, and a pane that is not over stays open.
 *
 * <p>Stream time falls behind store time with each gap between messages, so the grace is not
 * subtracted from it. Instead, samples of both times are kept.
 *
 * <p>Confined to the worker that owns the queue. It allocates nothing.
 */
final class PaneClosing {
  /** Every second sample is at least this part of the grace after the one before it. */
  private static final int STEPS = 32;

  /** So the samples span more than the grace. */
  private static final int SAMPLES = 4 * STEPS;

  /**
   * Maximum distance of the time from the window's end: nine years, as that of panes. A journal
   * refuses times that are much further away.
   */
  private static final long MAX_DISTANCE_MILLIS = TimeUnit.DAYS.toMillis(9 * 365);

  private static final long UNKNOWN = SealedWindow.UNKNOWN_CLOSED;

  /** No span is older: ages are limited. */
  private static final long OLDEST_MILLIS = BatchAges.MAX_MILLIS;

  private final long graceMillis;
  private final StreamClock clock;

  // Samples at the ends of windows; sample n is at n % length

  private final long[] elapsedMillis = new long[SAMPLES];
  private final long[] storedMillis = new long[SAMPLES];
  private long samples;

  private long closedMillis;

  /** End of the latest pane in which spans count; {@link #UNKNOWN} if no pane has any. */
  private long countedMillis;

  /**
   * @param graceMillis stream time after which a pane is closed
   * @param clock of the queue
   * @param closedMillis until when panes were closed at the take-over
   * @param countedMillis end of the latest pane in which spans count, at the take-over; if it is
   *     unknown, {@link SealedWindow#UNKNOWN_CLOSED}
   */
  PaneClosing(long graceMillis, StreamClock clock, long closedMillis, long countedMillis) {
    this.graceMillis = graceMillis;
    this.clock = clock;
    this.closedMillis = closedMillis;
    this.countedMillis = countedMillis;
  }

  /** Records that the window has spans of the pane that begins at this time. */
  void counted(long startMillis, long paneMillis) {
    long endMillis = OpenPanes.countedUntil(startMillis, paneMillis, closedMillis);
    countedMillis = Math.max(countedMillis, endMillis);
  }

  /** Returns until when panes are closed. */
  long closedMillis() {
    return closedMillis;
  }

  /** Returns whether a pane is open in which spans count. */
  boolean hasOpenPane() {
    return countedMillis > closedMillis;
  }

  /**
   * Returns until when panes are closed after a window; {@link SealedWindow#UNKNOWN_CLOSED} before
   * the first spans.
   *
   * @param completeness of the window
   * @param nowMillis milliseconds since 1970
   * @param paneMillis length of a pane
   */
  long endWindow(WindowCompleteness completeness, long nowMillis, long paneMillis) {
    if (clock.highestMillis() == StreamClock.UNKNOWN) {
      return closedMillis;
    }
    addSample();
    long until = Math.max(completeness.untilMillis(), storedBeforeGrace());
    if (until == UNKNOWN && closedMillis == UNKNOWN && countedMillis != UNKNOWN) {
      // Readers of the journal know the time from the first window with panes on.
      until = clock.highestMillis() - OLDEST_MILLIS;
    }
    if (until != UNKNOWN) {
      long limited =
          Math.clamp(
              Math.min(until, clock.highestMillis()),
              nowMillis - MAX_DISTANCE_MILLIS,
              nowMillis + MAX_DISTANCE_MILLIS);
      closedMillis = Math.max(closedMillis, Math.floorDiv(limited, paneMillis) * paneMillis);
    }
    return closedMillis;
  }

  private void addSample() {
    long elapsed = clock.elapsedMillis();
    boolean replaces =
        samples > 1 && elapsed - elapsedMillis[at(samples - 2)] < graceMillis / STEPS;
    long sample = replaces ? samples - 1 : samples++;
    elapsedMillis[at(sample)] = elapsed;
    storedMillis[at(sample)] = clock.highestMillis();
  }

  private static int at(long sample) {
    return (int) (sample % SAMPLES);
  }

  /** Returns the store time of the newest sample that is as old as the grace. */
  private long storedBeforeGrace() {
    long lastMillis = clock.elapsedMillis() - graceMillis;
    long oldest = Math.max(0, samples - SAMPLES);
    for (long sample = samples - 1; sample >= oldest; sample--) {
      if (elapsedMillis[at(sample)] <= lastMillis) {
        return storedMillis[at(sample)];
      }
    }
    return UNKNOWN;
  }
}
