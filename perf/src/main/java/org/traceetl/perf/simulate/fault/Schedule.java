package org.traceetl.perf.simulate.fault;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What happens to an installation: faults and quiet points, in milliseconds since the start. At a
 * quiet point all faults are over and senders pause; within {@link #QUIET} all must be visible.
 *
 * @param quietMillis ascending; the run ends when all is visible after the last one
 * @param faults by their begin; each ends before the next quiet point
 */
public record Schedule(List<Long> quietMillis, List<Fault> faults) {
  /** The limit of the time from the end of all faults until all that was accepted is visible. */
  public static final Duration QUIET = Duration.ofMinutes(4);

  private static final String QUIET_WORD = " quiet";
  private static final Comparator<Fault> BY_BEGIN = Comparator.comparingLong(Fault::atMillis);

  public Schedule {
    quietMillis = quietMillis.stream().sorted().toList();
    faults = faults.stream().sorted(BY_BEGIN).toList();
    if (quietMillis.isEmpty()) {
      throw new IllegalArgumentException("a schedule needs a quiet point");
    }
  }

  public long endMillis() {
    return quietMillis.getLast() + QUIET.toMillis();
  }

  /** Returns the same quiet points with other faults. */
  public Schedule with(List<Fault> others) {
    return new Schedule(quietMillis, others);
  }

  /** Returns the part that ends with a quiet point. */
  public Schedule until(long quiet) {
    return new Schedule(
        quietMillis.stream().filter(one -> one <= quiet).toList(),
        faults.stream().filter(fault -> fault.atMillis() < quiet).toList());
  }

  /** Returns the schedule without the first milliseconds. */
  public Schedule earlier(long millis) {
    return new Schedule(
        quietMillis.stream().map(quiet -> quiet - millis).filter(quiet -> quiet > 0).toList(),
        faults.stream()
            .filter(fault -> fault.atMillis() > millis)
            .map(fault -> FaultText.at(fault, fault.atMillis() - millis))
            .toList());
  }

  /** Returns a line for each fault and quiet point, by time. {@link #read} reads them. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    int next = 0;
    for (long quiet : quietMillis) {
      while (next < faults.size() && faults.get(next).atMillis() < quiet) {
        lines.add(FaultText.write(faults.get(next++)));
      }
      lines.add(FaultText.time(quiet) + QUIET_WORD);
    }
    return lines;
  }

  /**
   * Reads {@link #lines}.
   *
   * @throws IllegalArgumentException if a line is malformed, or a fault does not end before the
   *     next quiet point
   */
  public static Schedule read(List<String> lines) {
    List<Long> quiet = new ArrayList<>();
    List<Fault> faults = new ArrayList<>();
    for (String line : lines) {
      if (line.endsWith(QUIET_WORD)) {
        quiet.add(FaultText.millis(line.substring(0, line.length() - QUIET_WORD.length())));
      } else {
        faults.add(FaultText.read(line));
      }
    }
    Schedule schedule = new Schedule(quiet, faults);
    faults.forEach(schedule::checkEnd);
    return schedule;
  }

  private void checkEnd(Fault fault) {
    long quiet =
        quietMillis.stream()
            .filter(one -> one > fault.atMillis())
            .findFirst()
            .orElseThrow(() ->
                new IllegalArgumentException(
                    "fault = "
                        + text(fault)
                        + ": must begin before the last quiet point, "
                        + time(quietMillis.getLast())));
    if (fault.endMillis() >= quiet) {
      throw new IllegalArgumentException(
          "fault = "
              + text(fault)
              + ": ends at "
              + time(fault.endMillis())
              + "; must end before the next quiet point, "
              + time(quiet));
    }
  }

  /**
   * Checks what the faults act on.
   *
   * @throws IllegalArgumentException if a fault acts on a part that the fleet does not have
   */
  public void checkTargets(Fleet fleet) {
    for (Fault fault : faults) {
      for (Target target : FaultText.targets(fault)) {
        if (!fleet.has(target)) {
          throw new IllegalArgumentException(
              "fault = " + text(fault) + ": there is no " + target + " in this plan");
        }
      }
    }
  }

  /** Returns the line of a fault. */
  public static String text(Fault fault) {
    return FaultText.write(fault);
  }

  /** Returns {@code h:mm:ss.mmm}. */
  public static String time(long millis) {
    return FaultText.time(millis);
  }
}
