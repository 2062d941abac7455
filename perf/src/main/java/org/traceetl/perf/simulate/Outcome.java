package org.traceetl.perf.simulate;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * The outcome of a run.
 *
 * @param failures what did not hold; empty if the run passed
 * @param hash of all that happened
 * @param simulatedMillis until the end, or until the first failure was found
 * @param longestQuietNanos from a quiet point until all was visible
 * @param faults begun, by kind
 * @param timeline what happened last, by time, and after a failure the state at the end
 */
public record Outcome(
    Plan plan,
    List<String> failures,
    String hash,
    long simulatedMillis,
    Duration wall,
    long spans,
    long longestQuietNanos,
    SortedMap<String, Integer> faults,
    List<String> timeline) {
  public boolean passed() {
    return failures.isEmpty();
  }

  /** Returns the same outcome of an equivalent plan. */
  Outcome of(Plan other) {
    return new Outcome(
        other, failures, hash, simulatedMillis, wall, spans, longestQuietNanos, faults, timeline);
  }

  /** Returns one line of {@code name=value}. */
  String line() {
    double seconds = Math.max(1e-3, wall.toMillis() / 1e3);
    return String.format(
        Locale.ROOT,
        "seed=%d outcome=%s hours=%.2f wall_seconds=%.1f simulated_seconds_per_second=%.0f spans=%d"
            + " spans_per_second=%.0f faults=%d longest_quiet_seconds=%.0f hash=%s",
        plan.seed(),
        passed() ? "passed" : "failed",
        simulatedMillis / 3.6e6,
        seconds,
        simulatedMillis / 1e3 / seconds,
        spans,
        spans / seconds,
        faults.values().stream().mapToInt(Integer::intValue).sum(),
        longestQuietNanos / 1e9,
        hash);
  }

  /** Returns the number of faults of each kind. */
  String faultsLine() {
    return faults.entrySet().stream()
        .map(kind -> kind.getKey() + "=" + kind.getValue())
        .collect(Collectors.joining(" "));
  }
}
