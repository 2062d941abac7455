package org.traceetl.perf.simulate;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.traceetl.perf.simulate.fault.Fault;
import org.traceetl.perf.simulate.fault.Schedule;

/**
 * Searches the fewest faults with which a plan fails in the same way, by delta debugging (ddmin,
 * Zeller and Hildebrandt 2002). Each attempt repeats the seed with some of the faults. Then it
 * removes the time before the first fault.
 */
final class Shrinker {
  private static final Pattern WORD_WITH_DIGIT = Pattern.compile("[\\w.+-]*\\d[\\w.+-]*");

  private final Function<Plan, Outcome> run;
  private final BooleanSupplier continues;
  private Set<String> kinds;
  private Outcome smallest;
  private int attempts;

  /**
   * @param continues whether there is time for a further attempt
   */
  Shrinker(Function<Plan, Outcome> run, BooleanSupplier continues) {
    this.run = run;
    this.continues = continues;
  }

  int attempts() {
    return attempts;
  }

  /** Returns the outcome of the smallest plan found that fails. */
  Outcome shrink(Outcome failed) {
    smallest = failed;
    kinds = kinds(failed);
    Schedule schedule = failed.plan().schedule();
    long quiet =
        schedule.quietMillis().stream()
            .filter(one -> one >= failed.simulatedMillis())
            .findFirst()
            .orElse(schedule.quietMillis().getLast());
    // What comes later cannot be the cause; quiet points may be later than the schedule has them.
    smallest = failed.of(failed.plan().with(schedule.until(quiet)));
    if (!fails(smallest.plan().schedule().with(List.of()))) {
      removeFaults();
    }
    removeTime();
    return smallest;
  }

  private void removeFaults() {
    int parts = 2;
    while (faults().size() >= 2 && continues.getAsBoolean()) {
      List<List<Fault>> chunks = chunks(faults(), parts);
      boolean fewer = false;
      for (int i = 0; i < chunks.size() && !fewer; i++) {
        if (fails(smallest.plan().schedule().with(chunks.get(i)))) {
          parts = 2;
          fewer = true;
        }
      }
      for (int i = 0; i < chunks.size() && !fewer && chunks.size() > 2; i++) {
        if (fails(smallest.plan().schedule().with(allBut(chunks, i)))) {
          parts = Math.max(parts - 1, 2);
          fewer = true;
        }
      }
      if (!fewer) {
        if (parts >= faults().size()) {
          return;
        }
        parts = Math.min(2 * parts, faults().size());
      }
    }
  }

  private void removeTime() {
    long firstMillis =
        faults().isEmpty()
            ? smallest.plan().schedule().quietMillis().getLast()
            : faults().getFirst().atMillis();
    for (long by = firstMillis - 1_000; by > 0; by /= 2) {
      if (fails(smallest.plan().schedule().earlier(by))) {
        return;
      }
    }
  }

  private List<Fault> faults() {
    return smallest.plan().schedule().faults();
  }

  private boolean fails(Schedule schedule) {
    if (!continues.getAsBoolean()) {
      return false;
    }
    attempts++;
    Outcome outcome = run.apply(smallest.plan().with(schedule));
    // Another kind of failure has another cause.
    if (Collections.disjoint(kinds(outcome), kinds)) {
      return false;
    }
    smallest = outcome;
    return true;
  }

  /** Returns the first lines of the failures, without words that contain a digit. */
  private static Set<String> kinds(Outcome outcome) {
    Set<String> kinds = new TreeSet<>();
    for (String failure : outcome.failures()) {
      String line = failure.lines().findFirst().orElse("");
      kinds.add(WORD_WITH_DIGIT.matcher(line).replaceAll("#"));
    }
    return kinds;
  }

  private static List<List<Fault>> chunks(List<Fault> faults, int parts) {
    List<List<Fault>> chunks = new ArrayList<>();
    for (int i = 0; i < parts; i++) {
      chunks.add(faults.subList(faults.size() * i / parts, faults.size() * (i + 1) / parts));
    }
    return chunks;
  }

  private static List<Fault> allBut(List<List<Fault>> chunks, int left) {
    List<Fault> all = new ArrayList<>();
    for (int i = 0; i < chunks.size(); i++) {
      if (i != left) {
        all.addAll(chunks.get(i));
      }
    }
    return all;
  }
}
