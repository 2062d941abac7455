package org.traceetl.server.window;

import java.util.List;

/**
 * Everything about a series except its counts.
 *
 * @param series its number, unique among the live series of its queue; reused after an eviction
 * @param createdMillis when its first span was recorded, milliseconds since 1970
 * @param overflow whether it is an overflow series of its application. Then {@code values} has the
 *     application, and kind and status if the application has one for each or if it counts events
 *     or is a variance; the rest is null
 * @param values one value per dimension, in the order application, span name, span kind (the OTLP
 *     number as text, plus {@link #OF_EVENTS} for events or {@link #OF_VARIANCE} for a variance),
 *     status code (the OTLP number as text), then the configured dimensions, those of events last;
 *     null if the span or event lacks the attribute. Then a label and its value for each further
 *     label, sorted by label, none of them null: those of dimensions that only the rules of the
 *     application have. Their number may differ between the series of a queue. Readers leave out a
 *     label without a value. The label {@link Form#KEY} is none of the page's: its value is the
 *     series' {@link Form}
 */
public record SeriesDefinition(
    int series, long createdMillis, boolean overflow, List<String> values) {
  public static final int APPLICATION = 0;
  public static final int SPAN_NAME = 1;
  public static final int SPAN_KIND = 2;
  public static final int STATUS_CODE = 3;

  /** Number of dimensions of every series before the configured ones. */
  public static final int FIXED_DIMENSIONS = 4;

  /**
   * Added to OTLP's kind in a series that counts events of spans of that kind. A profile that maps
   * spans has its own kinds and no events.
   */
  public static final int OF_EVENTS = 8;

  private static final String OF_MEASURES_TEXT = "14";

  /**
   * In place of OTLP's kind in a series of a measure, whose span name is the name of the metric. A
   * profile that maps spans has no measures.
   */
  public static final int OF_MEASURES = 14;

  /**
   * Added to OTLP's kind in a series of the variance of a series of spans, which has otherwise
   * equal values. A profile that maps spans has no variances.
   */
  public static final int OF_VARIANCE = 16;

  /** Returns whether it counts events of spans. Not valid if a profile maps spans. */
  public boolean isOfEvents() {
    String kind = values.get(SPAN_KIND);
    return kind != null && Integer.parseInt(kind) >= OF_EVENTS && !isOfMeasure() && !isOfVariance();
  }

  /**
   * Returns whether it is the variance of a series of spans. Always false if a profile maps spans.
   */
  public boolean isOfVariance() {
    String kind = values.get(SPAN_KIND);
    return kind != null && Integer.parseInt(kind) >= OF_VARIANCE;
  }

  /** Returns whether it counts spans. Not valid if a profile maps spans. */
  public boolean isOfSpans() {
    return !isOfEvents() && !isOfMeasure() && !isOfVariance();
  }

  /** Returns whether it is a series of a measure. Not valid if a profile maps spans. */
  public boolean isOfMeasure() {
    return OF_MEASURES_TEXT.equals(values.get(SPAN_KIND));
  }
}
