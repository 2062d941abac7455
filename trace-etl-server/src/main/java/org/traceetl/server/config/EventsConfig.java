package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;

/**
 * Which series count events of spans: {@code trace-etl.events}. A missing value is its default. The
 * agents say which events they send.
 *
 * @param enabled whether events are counted; default: with profile otel, whose metrics have a name
 *     for it
 * @param dimensions attributes of events that distinguish their series, after all that
 *     distinguishes the span's and the event's name; default {@code exception.type}
 */
public record EventsConfig(Boolean enabled, List<String> dimensions) {
  private static final String PREFIX = "trace-etl.events.";
  private static final int MAX_DIMENSIONS = 8;

  /** Label of an event's name. */
  private static final Dimension NAME = new Dimension("event.name", null, From.EVENT_NAME);

  public EventsConfig {
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

  /** The same with what a profile has by default. */
  EventsConfig in(MetricsConfig.Profile profile) {
    return new EventsConfig(orElse(enabled, profile == MetricsConfig.Profile.OTEL), dimensions);
  }

  /** The series with the dimensions of events, if events are counted in this profile. */
  public SeriesConfig addTo(SeriesConfig series, MetricsConfig.Profile profile) {
    boolean counted = in(profile).enabled;
    check(
        profile != MetricsConfig.Profile.OZHERA || !counted,
        PREFIX + "enabled",
        enabled,
        "must be absent with profile ozhera, which has no metric of events");
    // A configuration may be made of another one's parts.
    if (!counted || series.countsEvents()) {
      return series;
    }
    for (Dimension dimension : series.dimensions()) {
      check(
          dimension.from() != From.EVENT,
          "trace-etl.series.dimensions.from",
          "event",
          "must be span, resource or any; attributes of events: " + PREFIX + "dimensions");
    }
    List<Dimension> all = new ArrayList<>(series.dimensions());
    all.add(NAME);
    dimensions.forEach(attribute -> all.add(new Dimension(attribute, null, From.EVENT)));
    return series.withDimensions(all);
  }
}
