package org.traceetl.server.decode;

import java.util.List;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;

/**
 * The attributes of spans, resources and events that are dimensions, numbered as configured.
 * Immutable.
 */
public final class DimensionKeys {
  private final AttributeKeys ofSpan;
  private final AttributeKeys ofResource;
  private final AttributeKeys ofEvent;
  private final int eventName;
  private final boolean ofSpans;

  public DimensionKeys(List<Dimension> dimensions) {
    ofSpan =
        new AttributeKeys(
            dimensions.stream().map(d -> d.from().readsSpan() ? d.attribute() : null).toList());
    ofResource =
        new AttributeKeys(
            dimensions.stream().map(d -> d.from().readsResource() ? d.attribute() : null).toList());
    ofEvent =
        new AttributeKeys(
            dimensions.stream().map(d -> d.from() == From.EVENT ? d.attribute() : null).toList());
    eventName = dimensions.stream().map(Dimension::from).toList().indexOf(From.EVENT_NAME);
    ofSpans = dimensions.stream().anyMatch(d -> d.from().readsSpan() || d.from().readsResource());
  }

  /** Returns whether any dimension is an attribute of spans or resources. */
  boolean ofSpans() {
    return ofSpans;
  }

  int count() {
    return ofSpan.size();
  }

  AttributeKeys ofSpan() {
    return ofSpan;
  }

  AttributeKeys ofResource() {
    return ofResource;
  }

  AttributeKeys ofEvent() {
    return ofEvent;
  }

  /** Returns the dimension that is an event's name; below 0 if events are not counted. */
  int eventName() {
    return eventName;
  }
}
