package org.traceetl.perf.simulate.mutation;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the runs of a simulation printed.
 *
 * @param ends the runs that ended
 * @param failedCheck the first check that failed
 */
record SimulationOutput(List<End> ends, Optional<String> failedCheck, String lastLine) {
  /** The exit code if a check failed. */
  static final int CHECK_FAILED = 1;

  /** Begins the message of a failure that is none of the programs. */
  private static final String CANNOT_CONTINUE = "the simulation cannot continue";

  private static final Pattern END =
      Pattern.compile("(?m)^seed=(-?\\d+) outcome=\\S+ hours=([0-9.]+)");
  private static final Pattern FAILED = Pattern.compile("(?m)^FAILED: (.+)$");

  /** What the watchdog of the simulation prints. */
  private static final Pattern STALLED = Pattern.compile("seed (-?\\d+) has made no progress .*");

  /** The end of a run. */
  record End(long seed, double hours) {}

  static SimulationOutput of(String text) {
    List<End> ends = new ArrayList<>();
    Matcher end = END.matcher(text);
    while (end.find()) {
      End found = new End(Long.parseLong(end.group(1)), Double.parseDouble(end.group(2)));
      // A failed run is reported again, with fewer faults.
      if (ends.isEmpty() || ends.getLast().seed() != found.seed()) {
        ends.add(found);
      }
    }
    Matcher failed = FAILED.matcher(text);
    Optional<String> check = failed.find() ? Optional.of(failed.group(1)) : Optional.empty();
    return new SimulationOutput(
        ends,
        check.filter(message -> !message.startsWith(CANNOT_CONTINUE)),
        check.orElse(
            text.lines().filter(line -> !line.isBlank()).reduce("", (before, line) -> line)));
  }

  /** Returns the seed whose run the watchdog ended; empty if it ended none. */
  OptionalLong stalledSeed() {
    Matcher stalled = STALLED.matcher(failedCheck.orElse(""));
    return stalled.matches()
        ? OptionalLong.of(Long.parseLong(stalled.group(1)))
        : OptionalLong.empty();
  }

  double hours() {
    return ends.stream().mapToDouble(End::hours).sum();
  }
}
