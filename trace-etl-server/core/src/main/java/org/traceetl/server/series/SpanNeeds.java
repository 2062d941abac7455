package org.traceetl.server.series;

import java.util.Set;

/**
 * What this server needs of spans by the rules in force, in addition to its configuration.
 * Immutable.
 *
 * @param slow durations from which spans are slow
 * @param attributes of spans that rules have as dimensions, or have from now on
 */
public record SpanNeeds(SlowThresholds slow, Set<String> attributes) {
  public SpanNeeds {
    attributes = Set.copyOf(attributes);
  }
}
