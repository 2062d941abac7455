package org.traceetl.server.history;

import java.util.Map;

/** Histories without journals. */
public final class Histories {
  private Histories() {}

  /**
   * Adds what a window has of an application.
   *
   * @param counts spans by bucket, with a millisecond of duration in all
   */
  public static void add(
      History history, long openedMillis, String application, boolean failed, long... counts) {
    Tally tally = new Tally(counts.length);
    tally.add(failed, 1_000_000, counts, 0, counts.length, true);
    history.add(openedMillis, Map.of(application, tally));
  }
}
