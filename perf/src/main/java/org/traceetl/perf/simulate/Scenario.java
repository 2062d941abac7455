package org.traceetl.perf.simulate;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.simulate.fault.Fault;
import org.traceetl.perf.simulate.fault.Installation;
import org.traceetl.perf.simulate.fault.Schedule;
import org.traceetl.perf.simulate.world.World;

/**
 * Follows a schedule in a simulated thread: begins and ends faults, and checks at quiet points. It
 * ends at the first quiet point that fails, or if something else fails.
 */
final class Scenario implements Runnable {
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** After which servers have read all that agents published: longer than a few windows. */
  private static final long SETTLE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private static final String NAME = "scenario";

  /** What a scenario needs of a running installation, in addition to what faults need. */
  interface Parts {
    /**
     * Ends faults that would hide spans, and starts what does not run. Faults of clocks and
     * routing, and read-only brokers, end by the schedule.
     */
    void heal();

    void pauseSenders();

    void resumeSenders();

    /** A fault begins. */
    void disturbed();

    /** Returns what differs from what must be visible; empty if nothing does. */
    List<String> differences() throws InterruptedException;

    /** Returns false while spans are uncertain, or what may lag is not compared. */
    boolean isCertain();

    /** Decides what senders that gave up left open, once nothing differs. */
    void decide();

    /** Begins the next comparison, once nothing differs. */
    void settle();
  }

  private interface Action {
    void run() throws InterruptedException;
  }

  private record Event(long atMillis, int rank, Action action) {}

  private final World world;
  private final Schedule schedule;
  private final Installation installation;
  private final Parts parts;
  private final List<String> failures;
  private final SortedMap<String, Integer> begun = new TreeMap<>();
  private boolean ended;
  private int quietPoints;
  private long longestQuietNanos;

  /** By which events are later than the schedule has them. */
  private long lateNanos;

  /**
   * @param failures receives what fails, and may receive other failures
   */
  Scenario(
      World world,
      Schedule schedule,
      Installation installation,
      Parts parts,
      List<String> failures) {
    this.world = world;
    this.schedule = schedule;
    this.installation = installation;
    this.parts = parts;
    this.failures = failures;
  }

  @Override
  public void run() {
    try {
      for (Event event : events()) {
        sleepUntil(event.atMillis);
        if (!failures.isEmpty()) {
          break;
        }
        event.action.run();
      }
    } catch (InterruptedException e) {
      failures.add("the scenario was interrupted");
    } finally {
      ended = true;
    }
  }

  boolean ended() {
    return ended;
  }

  SortedMap<String, Integer> begun() {
    return begun;
  }

  int quietPoints() {
    return quietPoints;
  }

  /** Returns the longest time from a quiet point until all was visible. */
  long longestQuietNanos() {
    return longestQuietNanos;
  }

  /** Ends come before begins of the same time. */
  private List<Event> events() {
    List<Event> events = new ArrayList<>();
    for (Fault fault : schedule.faults()) {
      events.add(new Event(fault.atMillis(), 1, () -> begin(fault)));
      if (fault.lastsMillis() > 0) {
        events.add(new Event(fault.endMillis(), 0, () -> end(fault)));
      }
    }
    for (long quiet : schedule.quietMillis()) {
      events.add(new Event(quiet, 2, this::quiet));
    }
    events.sort(Comparator.comparingLong(Event::atMillis).thenComparingInt(Event::rank));
    return events;
  }

  private void begin(Fault fault) {
    begun.merge(fault.kind(), 1, Integer::sum);
    note("begins: " + Schedule.text(fault));
    parts.disturbed();
    fault.begin(installation);
  }

  private void end(Fault fault) {
    note("ends: " + Schedule.text(fault));
    fault.end(installation);
  }

  private void quiet() throws InterruptedException {
    note("quiet point: all faults end, senders pause");
    parts.heal();
    parts.pauseSenders();
    quietPoints++;
    long nanos = awaitNoDifference();
    longestQuietNanos = Math.max(longestQuietNanos, nanos);
    if (failures.isEmpty()) {
      note("all is visible after " + nanos / 1_000_000 + " ms");
    }
    if (failures.isEmpty() && !parts.isCertain()) {
      // In the meantime a queue may lose its owner by a fault that is over.
      world.sleep(SETTLE_NANOS);
      awaitNoDifference();
      if (failures.isEmpty()) {
        parts.decide();
        awaitNoDifference();
      }
    }
    if (failures.isEmpty()) {
      parts.settle();
      parts.resumeSenders();
    }
  }

  /** Returns the time that it took; what differs for longer than {@link Schedule#QUIET} fails. */
  private long awaitNoDifference() throws InterruptedException {
    long startNanos = world.nanos();
    List<String> differences;
    do {
      world.sleep(CHECK_NANOS);
      differences = parts.differences();
      if (world.nanos() - startNanos > Schedule.QUIET.toNanos()) {
        failures.addAll(differences);
      }
    } while (!differences.isEmpty() && failures.isEmpty());
    return world.nanos() - startNanos;
  }

  private void sleepUntil(long millis) throws InterruptedException {
    long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
    // What follows a quiet point that took long keeps its order and distances.
    lateNanos = Math.max(lateNanos, world.nanos() - nanos);
    world.sleep(nanos + lateNanos - world.nanos());
  }

  private void note(String what) {
    world.timeline().note(NAME, what);
  }
}
