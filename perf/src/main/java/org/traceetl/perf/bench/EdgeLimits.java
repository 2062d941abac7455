package org.traceetl.perf.bench;

import java.time.Duration;
import java.util.Map;

/**
 * How half-edges wait for their other halves.
 *
 * @param maxWait after which a half expires
 * @param maxOpen halves that wait at the same time: in trace-etl in each queue, in a Collector in
 *     all
 * @param flush how often a Collector updates its page
 */
record EdgeLimits(Duration maxWait, int maxOpen, Duration flush) {
  /** Returns the server's keys below {@code trace-etl}, in YAML. */
  String settings() {
    return "edges: {enabled: true, max-wait: %ds, max-open: %d}\n"
        .formatted(maxWait.toSeconds(), maxOpen);
  }

  /** Returns the environment of a Collector. */
  Map<String, String> environment() {
    return Map.of(
        "EDGES_TTL", maxWait.toSeconds() + "s",
        "EDGES_MAX_ITEMS", Integer.toString(maxOpen),
        "EDGES_FLUSH", flush.toSeconds() + "s");
  }
}
