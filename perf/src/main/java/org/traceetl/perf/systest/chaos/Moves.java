package org.traceetl.perf.systest.chaos;

import java.util.Locale;

/**
 * How often series had to go to other queues.
 *
 * @param reroutes changes of the agents' routing file
 * @param decisions of the servers on hotspots that a server was seen to know
 * @param series that spans were counted in on more than one queue
 */
record Moves(long reroutes, long decisions, long series) {
  String line() {
    return String.format(
        Locale.ROOT, "reroutes=%d decisions=%d moved_series=%d", reroutes, decisions, series);
  }
}
