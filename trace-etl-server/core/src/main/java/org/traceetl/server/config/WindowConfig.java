package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;

/**
 * The window: {@code trace-etl.window}. A missing value is its default.
 *
 * @param length length of a window; windows end at multiples of it and after the usual delay of
 *     batches, at most half a pane, and are shown when they end; 100 ms to 1 h
 * @param idle how long a series without spans stays on the page, from the start of its last window;
 *     {@code window.length} to 365 d
 * @param panes whether windows in the journal have the counts of each pane, an interval of {@code
 *     window.length}, but at least 1 s and at most 60 s, so that history shows spans at the time
 *     when agents accepted them: {@code auto}, while the servers' demand says that all of them read
 *     such windows; {@code off}, never
 * @param grace the time after which a pane is closed although agents may still have spans of it;
 *     measured in the store times of the queue's messages, where a gap counts as at most 15 s;
 *     spans that arrive later are counted in {@code trace_etl_late_spans_total}; 1 s to 1 d
 * @param variances whether sampled series have a variance: {@code auto}, while the servers' demand
 *     says that all of them read it; {@code off}, never, and variances end when they are idle. No
 *     effect if the profile has names of its own
 */
public record WindowConfig(
    Duration length, Duration idle, Panes panes, Duration grace, Variances variances) {
  private static final String PREFIX = "trace-etl.window.";
  private static final Duration MIN_LENGTH = Duration.ofMillis(100);
  private static final Duration MAX_LENGTH = Duration.ofHours(1);
  private static final Duration MAX_IDLE = Duration.ofDays(365);
  private static final Duration MIN_GRACE = Duration.ofSeconds(1);
  private static final Duration MAX_GRACE = Duration.ofDays(1);

  public WindowConfig {
    length = orElse(length, Duration.ofSeconds(15));
    idle = orElse(idle, Duration.ofMinutes(15));
    panes = orElse(panes, Panes.AUTO);
    grace = orElse(grace, Duration.ofMinutes(2));
    variances = orElse(variances, Variances.AUTO);
    checkRange(PREFIX + "length", length, MIN_LENGTH, MAX_LENGTH, "must be 100 ms to 1 h");
    checkRange(
        PREFIX + "idle",
        idle,
        length,
        MAX_IDLE,
        "must be at least the window length and at most 365 days");
    checkRange(PREFIX + "grace", grace, MIN_GRACE, MAX_GRACE, "must be 1 s to 1 d");
  }

  /** When windows are written with their panes. */
  public enum Panes {
    AUTO,
    OFF
  }

  /** When sampled series have variances. */
  public enum Variances {
    AUTO,
    OFF
  }
}
