package org.traceetl.agent.config;

import java.util.List;

/**
 * The events of spans that are sent to be counted.
 *
 * @param names names of the span events to send; {@code *} for all; other events cost nothing after
 *     the agent
 * @param attributes attributes to send with these events; the server's {@code
 *     trace-etl.events.dimensions} selects labels from them
 */
public record CountedEventsConfig(List<String> names, List<String> attributes) {
  public CountedEventsConfig {
    names = List.copyOf(names);
    attributes = List.copyOf(attributes);
  }

  /** Returns exceptions, with their types. */
  public static CountedEventsConfig defaults() {
    return new CountedEventsConfig(List.of("exception"), List.of("exception.type"));
  }
}
