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
 */
public record WindowConfig(Duration length, Duration idle, Panes panes) {
  private static final String PREFIX = "trace-etl.window.";
  private static final Duration MIN_LENGTH = Duration.ofMillis(100);
  private static final Duration MAX_LENGTH = Duration.ofHours(1);
  private static final Duration MAX_IDLE = Duration.ofDays(365);

  public WindowConfig {
    length = orElse(length, Duration.ofSeconds(15));
    idle = orElse(idle, Duration.ofMinutes(15));
    panes = orElse(panes, Panes.AUTO);
    checkRange(PREFIX + "length", length, MIN_LENGTH, MAX_LENGTH, "must be 100 ms to 1 h");
    checkRange(
        PREFIX + "idle",
        idle,
        length,
        MAX_IDLE,
        "must be at least the window length and at most 365 days");
  }

  /** When windows are written with their panes. */
  public enum Panes {
    AUTO,
    OFF
  }
}
