package org.traceetl.server.series;

import java.util.Map;
import java.util.Set;

/**
 * What this server needs of spans by the rules in force, in addition to its configuration.
 * Immutable.
 *
 * @param slow durations from which spans are slow
 * @param attributes of spans that rules need for dimensions and measures, or need from now on, by
 *     the pattern of their applications
 */
public record SpanNeeds(SlowThresholds slow, Map<String, Set<String>> attributes) {
  public SpanNeeds {
    attributes = Map.copyOf(attributes);
  }
}
