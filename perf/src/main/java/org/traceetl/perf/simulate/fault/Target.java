package org.traceetl.perf.simulate.fault;

import java.util.Comparator;
import java.util.Locale;

/**
 * What faults act on; its text form is such as {@code agent-1}.
 *
 * @param number from 1; 0 for what exists once
 */
public record Target(Role role, int number) implements Comparable<Target> {
  private static final Comparator<Target> ORDER =
      Comparator.comparing(Target::role).thenComparing(Target::number);

  /** The name server of the brokers. */
  public static final Target NAME_SERVER = new Target(Role.NAME_SERVER, 0);

  /** The controllers of replicated brokers. */
  public static final Target CONTROLLERS = new Target(Role.CONTROLLERS, 0);

  /** What a target is. */
  public enum Role {
    AGENT,
    SERVER,
    BROKER,
    /** One replica; the replicas of all brokers have one sequence of numbers. */
    REPLICA,
    NAME_SERVER,
    CONTROLLERS,
    /** A backfill of the application whose agent has the same number. */
    BACKFILL
  }

  public static Target agent(int number) {
    return new Target(Role.AGENT, number);
  }

  public static Target server(int number) {
    return new Target(Role.SERVER, number);
  }

  public static Target backfill(int number) {
    return new Target(Role.BACKFILL, number);
  }

  public static Target broker(int number) {
    return new Target(Role.BROKER, number);
  }

  public static Target replica(int number) {
    return new Target(Role.REPLICA, number);
  }

  /** Reads the text form. */
  static Target of(String text) {
    if (text.equals(NAME_SERVER.toString())) {
      return NAME_SERVER;
    }
    if (text.equals(CONTROLLERS.toString())) {
      return CONTROLLERS;
    }
    String[] parts = text.split("-", 2);
    try {
      int number = Integer.parseInt(parts[parts.length - 1]);
      if (number >= 1) {
        return new Target(Role.valueOf(parts[0].toUpperCase(Locale.ROOT)), number);
      }
    } catch (IllegalArgumentException e) {
      // Refused below.
    }
    throw new IllegalArgumentException(
        text + ": must be such as agent-1, server-2, broker-1, replica-3 or name-server");
  }

  @Override
  public int compareTo(Target other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    String name = role.name().toLowerCase(Locale.ROOT).replace('_', '-');
    return number == 0 ? name : name + "-" + number;
  }
}
