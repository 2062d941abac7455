package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;

/**
 * The events of spans that have series: {@code trace-etl.events}. A missing value is its default.
 * The agents' configuration selects the events that they send.
 *
 * @param enabled whether span events are counted, if the profile counts events. A change restarts
 *     all counters. The agents' {@code events.names} selects events
 * @param dimensions event attributes that become labels, at most 8; agents must send them
 */
public record EventsConfig(Boolean enabled, List<String> dimensions) {
  private static final String PREFIX = "trace-etl.events.";
  private static final int MAX_DIMENSIONS = 8;

  /** Label of the event's name. */
  private static final Dimension NAME = new Dimension("event.name", null, From.EVENT_NAME);

  public EventsConfig {
    enabled = orElse(enabled, false);
    dimensions = List.copyOf(orElse(dimensions, List.of("exception.type")));
    check(
        dimensions.size() <= MAX_DIMENSIONS,
        PREFIX + "dimensions",
        dimensions.size() + " of them",
        "must be at most " + MAX_DIMENSIONS);
    for (String dimension : dimensions) {
      check(!dimension.isEmpty(), PREFIX + "dimensions", dimension, "must name an attribute");
    }
  }

  public static EventsConfig defaults() {
    return new EventsConfig(null, null);
  }

  /** Returns the series with the dimensions of events, if the profile counts events. */
  public SeriesConfig addTo(SeriesConfig series, Profile profile) {
    check(
        profile.countsEvents() || !enabled,
        PREFIX + "enabled",
        enabled,
        "must be absent with profile " + profile.id() + ", which has no metric for events");
    // A configuration may consist of parts of another one.
    if (enabled && hasAdded(series)) {
      return series;
    }
    Set<String> labels = new HashSet<>();
    for (int i = 0; i < series.dimensions().size(); i++) {
      Dimension dimension = series.dimensions().get(i);
      check(
          !dimension.from().isEvent(),
          "trace-etl.series.dimensions[" + i + "].from",
          dimension.from().name().toLowerCase(Locale.ROOT),
          "must be span, resource or any; attributes of events: " + PREFIX + "dimensions");
      labels.add(dimension.label());
    }
    return enabled ? series.withDimensions(withEvents(series.dimensions(), labels)) : series;
  }

  /**
   * Returns the dimensions that distinguish the series of events, in addition to those of spans.
   */
  private List<Dimension> ofEvents() {
    List<Dimension> added = new ArrayList<>();
    added.add(NAME);
    dimensions.forEach(attribute -> added.add(new Dimension(attribute, null, From.EVENT)));
    return added;
  }

  /** Returns whether the series already end with exactly these dimensions of events. */
  private boolean hasAdded(SeriesConfig series) {
    List<Dimension> all = series.dimensions();
    List<Dimension> added = ofEvents();
    int ofSpans = all.size() - added.size();
    return ofSpans >= 0
        && all.subList(ofSpans, all.size()).equals(added)
        && all.subList(0, ofSpans).stream().noneMatch(one -> one.from().isEvent());
  }

  private List<Dimension> withEvents(List<Dimension> ofSpans, Set<String> labels) {
    List<Dimension> all = new ArrayList<>(ofSpans);
    all.addAll(ofEvents());
    for (Dimension added : all.subList(ofSpans.size(), all.size())) {
      check(
          labels.add(added.label()),
          PREFIX + "dimensions",
          added.attribute(),
          "must have a label that no other attribute and no attribute of"
              + " trace-etl.series.dimensions has: "
              + added.label());
    }
    check(
        all.size() <= SeriesConfig.MAX_DIMENSIONS,
        PREFIX + "dimensions",
        all.size() + " of them with those of trace-etl.series.dimensions and the event's name",
        "must be at most " + SeriesConfig.MAX_DIMENSIONS);
    return all;
  }
}
