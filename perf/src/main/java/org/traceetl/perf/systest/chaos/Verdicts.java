package org.traceetl.perf.systest.chaos;

/**
 * The verdicts of a run.
 *
 * @param counts of scraped series and of documents
 * @param panes of pushed series
 */
record Verdicts(Verdict counts, PaneVerdict panes) {
  boolean areExact() {
    return counts.isExact() && panes.isExact();
  }

  String line(int faults) {
    return counts.line(faults) + " " + panes.line();
  }
}
