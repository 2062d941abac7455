package org.traceetl.server.history;

import java.util.List;

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
    history.addCalls(openedMillis, List.of(operation(application, "GET /", "SERVER", tally)));
  }

  /** What a window has of an operation. */
  static Operation operation(String application, String name, String kind, Tally tally) {
    Operation operation = new Operation(application, name, kind);
    operation.tally = tally;
    return operation;
  }
}
