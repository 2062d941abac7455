package org.traceetl.server.compare;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.traceetl.common.ConfigException;

/**
 * What to compare.
 *
 * @param renamed labels of the left side that have another name on the right, by their left names
 * @param ignored labels, by their right names, that do not tell series apart: those that differ in
 *     them only are added up
 * @param end end of the range
 * @param settle maximum time by which one side counts a span later than the other
 * @param countsFromZero whether a series that begins in the range counts from 0, and not from its
 *     first sample
 * @param tolerance difference that counts as equal
 * @param caFile PEM file of the certificates to trust; null for those of the JDK
 * @param timeout longest wait for an answer
 */
public record CompareRequest(
    Source left,
    Source right,
    Map<String, String> renamed,
    Set<String> ignored,
    Instant end,
    Duration range,
    Duration pane,
    Duration settle,
    boolean countsFromZero,
    double tolerance,
    Path caFile,
    Duration timeout) {

  private static final Duration MAX_RANGE = Duration.ofDays(31);
  private static final Duration MAX_SETTLE = Duration.ofHours(1);
  private static final int MAX_PANES = 10_000;

  /**
   * @throws ConfigException if a value is invalid
   */
  public CompareRequest {
    renamed = Map.copyOf(renamed);
    ignored = Set.copyOf(ignored);
    check(!left.isSameAs(right), "--right", "must select other series than --left");
    check(isWithin(range, Duration.ofSeconds(1), MAX_RANGE), "--range", "must be 1s to 31d");
    check(isWithin(pane, Duration.ofSeconds(1), range), "--pane", "must be 1s to --range");
    check(isWithin(settle, Duration.ZERO, MAX_SETTLE), "--settle", "must be at most 1h");
    check(
        range.dividedBy(pane) + 2 * settle.dividedBy(pane) < MAX_PANES,
        "--pane",
        "must be longer, so that there are at most " + MAX_PANES + " panes");
    check(tolerance >= 0, "--tolerance", "must be 0 or more");
  }

  Panes panes() {
    return Panes.of(end, range, pane, settle);
  }

  private static boolean isWithin(Duration value, Duration least, Duration most) {
    return value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
  }

  private static void check(boolean isValid, String option, String rule) {
    ConfigException.check(isValid, option, null, rule);
  }
}
