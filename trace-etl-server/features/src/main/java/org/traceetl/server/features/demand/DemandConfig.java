package org.traceetl.server.features.demand;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.List;
import org.traceetl.proto.Demand;

/**
 * What agents send of spans: {@code trace-etl.demand}. A missing value is its default.
 *
 * @param enabled whether this server publishes what it needs in the topic of the decisions;
 *     otherwise agents do not know its dimensions, and must send its spans in full
 * @param exemplarInterval how often an agent sends a span of each series whole, as an exemplar; 1 s
 *     to 1 d; by default the length of a window
 * @param full applications whose spans agents send in full, with {@code *} as wildcard; at most 64
 */
public record DemandConfig(Boolean enabled, Duration exemplarInterval, List<String> full) {
  private static final String PREFIX = "trace-etl.demand.";
  private static final Duration MIN_INTERVAL = Duration.ofSeconds(1);
  private static final Duration MAX_INTERVAL = Duration.ofDays(1);

  public DemandConfig {
    enabled = orElse(enabled, true);
    full = List.copyOf(orElse(full, List.of()));
    check(
        exemplarInterval == null
            || exemplarInterval.compareTo(MIN_INTERVAL) >= 0
                && exemplarInterval.compareTo(MAX_INTERVAL) <= 0,
        PREFIX + "exemplar-interval",
        exemplarInterval,
        "must be 1 s to 1 d");
    check(
        full.size() <= Demand.MAX_FULL,
        PREFIX + "full",
        full.size() + " of them",
        "must be at most " + Demand.MAX_FULL);
    for (String pattern : full) {
      check(
          Demand.takesText(pattern),
          PREFIX + "full",
          pattern,
          "must have 1 to " + Demand.MAX_TEXT_BYTES + " bytes of UTF-8");
    }
  }

  static DemandConfig defaults() {
    return new DemandConfig(null, null, null);
  }
}
