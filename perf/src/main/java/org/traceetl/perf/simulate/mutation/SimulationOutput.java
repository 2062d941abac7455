package org.traceetl.perf.simulate.mutation;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a run of the simulation printed.
 *
 * @param failedCheck the first check that failed
 * @param hours simulated; empty if it is not printed
 */
record SimulationOutput(Optional<String> failedCheck, Optional<Double> hours, String lastLine) {
  /** The exit code if a check failed. */
  static final int CHECK_FAILED = 1;

  private static final Pattern FAILED = Pattern.compile("(?m)^FAILED:? +(.+)$");
  private static final Pattern HOURS = Pattern.compile("(?m)\\bhours=([0-9.]+)");

  static SimulationOutput of(String text) {
    return new SimulationOutput(
        first(FAILED, text),
        first(HOURS, text).map(Double::valueOf),
        text.lines().filter(line -> !line.isBlank()).reduce("", (before, line) -> line));
  }

  private static Optional<String> first(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
  }
}
