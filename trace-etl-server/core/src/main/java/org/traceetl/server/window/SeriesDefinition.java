package org.traceetl.server.window;

import java.util.List;

/**
 * What a series is: everything but its numbers.
 *
 * @param series its number, unique among the live series of its queue; used anew after an eviction
 * @param createdMillis when its first span was recorded, milliseconds since 1970
 * @param overflow whether it is an overflow series of its application; then {@code values} holds
 *     the application, kind and status if the application has one of each or if it is that of
 *     events, and null for the rest
 * @param values one value a dimension, in the order application, span name, span kind (the OTLP
 *     number as text, with {@link #OF_EVENTS} added where events are counted), status code (the
 *     OTLP number as text), then the configured dimensions, those of events last; null where the
 *     span or event has no such attribute
 */
public record SeriesDefinition(
    int series, long createdMillis, boolean overflow, List<String> values) {
  public static final int APPLICATION = 0;
  public static final int SPAN_NAME = 1;
  public static final int SPAN_KIND = 2;
  public static final int STATUS_CODE = 3;

  /** How many dimensions every series has before the configured ones. */
  public static final int FIXED_DIMENSIONS = 4;

  /**
   * Added to OTLP's kind: such a series counts events of spans of that kind. Where a profile maps
   * spans, kinds are its own, and there are no events.
   */
  public static final int OF_EVENTS = 8;

  /** Whether it counts events of spans. Not to be asked where a profile maps spans. */
  public boolean isOfEvents() {
    String kind = values.get(SPAN_KIND);
    return kind != null && Integer.parseInt(kind) >= OF_EVENTS;
  }
}
