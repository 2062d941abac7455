package org.traceetl.perf.simulate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.perf.simulate.fault.Fleet;
import org.traceetl.perf.simulate.fault.Schedule;

/**
 * All that a run depends on. Equal plans have equal runs.
 *
 * @param seed of devices, threads, senders and programs
 * @param queues of the span topic, on each broker
 * @param rate spans per second of all senders
 */
public record Plan(long seed, Fleet fleet, int queues, int rate, Schedule schedule) {
  /** Returns the same plan with other faults or quiet points. */
  Plan with(Schedule other) {
    return new Plan(seed, fleet, queues, rate, other);
  }

  /** Returns a line of numbers, and the lines of the schedule. {@link #read} reads them. */
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
                rate));
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
    Map<String, Long> numbers = new TreeMap<>();
    for (String word : content.getFirst().split(" +")) {
      String[] parts = word.split("=", 2);
      numbers.put(parts[0], Long.valueOf(parts[1]));
    }
    for (String name :
        Arrays.asList("seed", "agents", "servers", "brokers", "replicas", "queues", "rate")) {
      if (!numbers.containsKey(name)) {
        throw new IllegalArgumentException(
            "plan = " + content.getFirst() + ": " + name + " is missing");
      }
    }
    return new Plan(
        numbers.get("seed"),
        new Fleet(
            Math.toIntExact(numbers.get("agents")),
            Math.toIntExact(numbers.get("servers")),
            Math.toIntExact(numbers.get("brokers")),
            Math.toIntExact(numbers.get("replicas"))),
        Math.toIntExact(numbers.get("queues")),
        Math.toIntExact(numbers.get("rate")),
        Schedule.read(content.subList(1, content.size())));
  }
}
