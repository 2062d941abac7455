package org.traceetl.perf.simulate.fault;

import java.util.Locale;

/**
 * A program or broker that faults act on; its text form is such as {@code agent-1}.
 *
 * @param number from 1; 0 for the index, of which there is one
 */
public record Target(Role role, int number) {
  /** The index of documents. */
  public static final Target INDEX = new Target(Role.INDEX, 0);

  /** What a target is. */
  public enum Role {
    AGENT,
    SERVER,
    BROKER,
    INDEX
  }

  public static Target agent(int number) {
    return new Target(Role.AGENT, number);
  }

  public static Target server(int number) {
    return new Target(Role.SERVER, number);
  }

  public static Target broker(int number) {
    return new Target(Role.BROKER, number);
  }

  /** Reads the text form. */
  static Target of(String text) {
    if (text.equals(INDEX.toString())) {
      return INDEX;
    }
    String[] parts = text.split("-", 2);
    return new Target(Role.valueOf(parts[0].toUpperCase(Locale.ROOT)), Integer.parseInt(parts[1]));
  }

  @Override
  public String toString() {
    String name = role.name().toLowerCase(Locale.ROOT);
    return number == 0 ? name : name + "-" + number;
  }
}
