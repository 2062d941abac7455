package org.traceetl.server.migration;

import java.time.Duration;

/** Writes the length of windows and the time after which series end, within their ranges. */
final class Durations {
  private static final Duration MIN_LENGTH = Duration.ofMillis(100);
  private static final Duration MAX_LENGTH = Duration.ofHours(1);
  private static final Duration MAX_IDLE = Duration.ofDays(365);

  private Durations() {}

  /**
   * Writes both.
   *
   * @param idleOrNever zero for series that never end
   */
  static void write(
      ServerYaml yaml,
      Value interval,
      Duration intervalOrDefault,
      Value expiration,
      Duration idleOrNever) {
    Duration length = within(interval, intervalOrDefault, MIN_LENGTH, MAX_LENGTH);
    yaml.put("window", "length", ServerYaml.duration(length), interval.origin());
    boolean never = idleOrNever.isZero();
    Duration idle = never ? MAX_IDLE : within(expiration, idleOrNever, length, MAX_IDLE);
    yaml.put(
        "window",
        "idle",
        ServerYaml.duration(idle),
        expiration.origin() + (never ? ": never; 365d is the longest, 15m needs less memory" : ""));
  }

  private static Duration within(Value value, Duration given, Duration least, Duration most) {
    Duration bounded =
        given.compareTo(least) < 0 ? least : given.compareTo(most) > 0 ? most : given;
    Duration whole = Duration.ofMillis(bounded.toMillis());
    if (!whole.equals(given)) {
      value.report().gap(value, "becomes " + ServerYaml.duration(whole) + ", the nearest allowed");
    }
    return whole;
  }
}
