package org.traceetl.perf.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.traceetl.perf.simulate.fault.Fleet;
import org.traceetl.perf.simulate.fault.Schedule;

/**
 * All that a run depends on. Equal plans have equal runs.
 *
 * @param seed of devices, threads, senders and programs
 * @param queues of the span topic, on each broker
 * @param rate spans per second of all senders
 * @param demand whether agents or servers use demand; the seed decides which, see {@link
 *     DemandDraw}
 * @param from the recorded state with which it begins; empty: with nothing
 */
public record Plan(
    long seed,
    Fleet fleet,
    int queues,
    int rate,
    boolean demand,
    Optional<String> from,
    Schedule schedule) {
  private static final String SEED = "seed";
  private static final String FROM = "from=";
  private static final List<String> NAMES =
      List.of(SEED, "agents", "servers", "brokers", "replicas", "queues", "rate");

  /** Follows these in plans with demand. */
  private static final String DEMAND = " demand=1";

  private static final Pattern NUMBER = Pattern.compile("([a-z]+)=(-?\\d+)");

  /** A plan that begins with nothing, without demand. */
  public Plan(long seed, Fleet fleet, int queues, int rate, Schedule schedule) {
    this(seed, fleet, queues, rate, false, Optional.empty(), schedule);
  }

  /** Returns the same plan with other faults or quiet points. */
  Plan with(Schedule other) {
    return new Plan(seed, fleet, queues, rate, demand, from, other);
  }

  /**
   * Returns a line of numbers, one of the recorded state if any, and those of the schedule. {@link
   * #read} reads them.
   */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "seed=%d agents=%d servers=%d brokers=%d replicas=%d queues=%d rate=%d"
                .formatted(
                    seed,
                    fleet.agents(),
                    fleet.servers(),
                    fleet.brokers(),
                    fleet.replicas(),
                    queues,
                    rate)
            + (demand ? DEMAND : ""));
    from.ifPresent(state -> lines.add(FROM + state));
    lines.addAll(schedule.lines());
    return lines;
  }

  /**
   * Reads lines; empty ones, and those that start with {@code #}, are comments.
   *
   * @throws IllegalArgumentException if a line is malformed
   */
  public static Plan read(List<String> lines) {
    List<String> content =
        lines.stream()
            .map(String::strip)
            .filter(line -> !line.isEmpty() && !line.startsWith("#"))
            .toList();
    if (content.isEmpty()) {
      throw new IllegalArgumentException("the file of a plan is empty");
    }
    boolean demand = content.getFirst().endsWith(DEMAND);
    Map<String, Long> numbers = numbers(content.getFirst().replace(DEMAND, ""));
    Optional<String> from =
        content.stream().skip(1).findFirst().filter(line -> line.startsWith(FROM));
    Schedule schedule = Schedule.read(content.subList(from.isPresent() ? 2 : 1, content.size()));
    Fleet fleet =
        new Fleet(
            Math.toIntExact(numbers.get("agents")),
            Math.toIntExact(numbers.get("servers")),
            Math.toIntExact(numbers.get("brokers")),
            Math.toIntExact(numbers.get("replicas")));
    schedule.checkTargets(fleet);
    return new Plan(
        numbers.get(SEED),
        fleet,
        Math.toIntExact(numbers.get("queues")),
        Math.toIntExact(numbers.get("rate")),
        demand,
        from.map(line -> line.substring(FROM.length())),
        schedule);
  }

  private static Map<String, Long> numbers(String line) {
    Map<String, Long> numbers = new TreeMap<>();
    for (String word : line.split(" +", -1)) {
      Matcher number = NUMBER.matcher(word);
      if (!number.matches() || !NAMES.contains(number.group(1))) {
        throw malformed(line, word + " must be NAME=NUMBER, with NAME one of " + NAMES);
      }
      String name = number.group(1);
      try {
        long value = Long.parseLong(number.group(2));
        if (!name.equals(SEED) && (value < 1 || value > Integer.MAX_VALUE)) {
          throw malformed(line, word + ": must be from 1 to " + Integer.MAX_VALUE);
        }
        numbers.put(name, value);
      } catch (NumberFormatException e) {
        throw malformed(line, word + ": is too large");
      }
    }
    for (String name : NAMES) {
      if (!numbers.containsKey(name)) {
        throw malformed(line, name + " is missing");
      }
    }
    return numbers;
  }

  private static IllegalArgumentException malformed(String line, String why) {
    return new IllegalArgumentException("plan = " + line + ": " + why);
  }
}
