package org.traceetl.server.decode;

import java.util.List;
import java.util.function.Predicate;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;

/** The attributes of spans, resources and events that are dimensions, numbered. Immutable. */
public final class DimensionKeys {
  private final AttributeKeys ofSpan;
  private final AttributeKeys ofResource;
  private final AttributeKeys ofEvent;
  private final int eventName;
  private final boolean ofSpans;

  /**
   * @param dimensions in the order of their numbers; null for a number without a dimension
   */
  public DimensionKeys(List<Dimension> dimensions) {
    ofSpan = keys(dimensions, From::readsSpan);
    ofResource = keys(dimensions, From::readsResource);
    ofEvent = keys(dimensions, from -> from == From.EVENT);
    List<From> sources = dimensions.stream().map(d -> d == null ? null : d.from()).toList();
    eventName = sources.indexOf(From.EVENT_NAME);
    ofSpans = sources.stream().anyMatch(from -> from != null && !from.isEvent());
  }

  private static AttributeKeys keys(List<Dimension> dimensions, Predicate<From> isSource) {
    return new AttributeKeys(
        dimensions.stream()
            .map(d -> d != null && isSource.test(d.from()) ? d.attribute() : null)
            .toList());
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
