package org.traceetl.agent.config;

import java.util.List;

/**
 * Which events of spans are sent, to be counted.
 *
 * @param names of the events; {@code *} for all
 * @param attributes keys of their attributes that are sent with them
 */
public record EventsConfig(List<String> names, List<String> attributes) {
  public EventsConfig {
    names = List.copyOf(names);
    attributes = List.copyOf(attributes);
  }

  /** Exceptions, with their types. */
  public static EventsConfig defaults() {
    return new EventsConfig(List.of("exception"), List.of("exception.type"));
  }
}
