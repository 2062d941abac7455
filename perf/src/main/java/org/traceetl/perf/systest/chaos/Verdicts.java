package org.traceetl.perf.systest.chaos;

/**
 * The verdicts of a run.
 *
 * @param counts of scraped series and of documents
 * @param panes of pushed series
 * @param edges of the service graph; null without it
 */
record Verdicts(Verdict counts, PaneVerdict panes, EdgeVerdict edges) {
  boolean areExact() {
    return counts.isExact() && panes.isExact() && (edges == null || edges.isExact());
  }

  String line(int faults) {
    return counts.line(faults) + " " + panes.line() + (edges == null ? "" : " " + edges.line());
  }
}
