package org.traceetl.perf.systest.chaos;

import java.util.Locale;

/**
 * How often series moved to other queues, or got other dimensions.
 *
 * @param reroutes changes of the agents' routing file
 * @param decisions decisions on hotspots that a server showed
 * @param series series that were counted on more than one queue
 * @param rules changes of the servers' file of rules
 */
record Moves(long reroutes, long decisions, long series, long rules) {
  String line() {
    return String.format(
        Locale.ROOT,
        "reroutes=%d decisions=%d moved_series=%d rules=%d",
        reroutes,
        decisions,
        series,
        rules);
  }
}
