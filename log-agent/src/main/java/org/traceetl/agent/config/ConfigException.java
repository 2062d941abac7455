package org.traceetl.agent.config;

import java.util.List;

/** A configuration that cannot be used. The problems read {@code key = value: what is wrong}. */
public final class ConfigException extends Exception {
  private final transient List<String> problems;

  ConfigException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  /** All of them, not only the first. */
  public List<String> problems() {
    return problems;
  }
}
