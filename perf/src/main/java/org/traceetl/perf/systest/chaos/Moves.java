package org.traceetl.perf.systest.chaos;

import java.util.Locale;

/**
 * How often series moved to other queues.
 *
 * @param reroutes changes of the agents' routing file
 * @param decisions decisions on hotspots that a server showed
 * @param series series that were counted on more than one queue
 */
record Moves(long reroutes, long decisions, long series) {
  String line() {
    return String.format(
        Locale.ROOT, "reroutes=%d decisions=%d moved_series=%d", reroutes, decisions, series);
  }
}
