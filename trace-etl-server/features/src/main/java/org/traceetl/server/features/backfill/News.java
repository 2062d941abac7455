package org.traceetl.server.features.backfill;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.SpanMeasures;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.SeriesDefinition;

/**
 * What series have only from a switch of rules on: values of dimensions, and parts of measures. A
 * part of a measure is its name alone, or with its form, with a label, or with a label and its
 * value, so that a measure is new in part if only its form or labels are.
 *
 * @param places positions of the dimensions in {@link SeriesDefinition#values}
 * @param measures parts of measures
 * @param firstLabel position of the first label after the dimensions
 */
record News(Set<Integer> places, Set<String> measures, int firstLabel) {
  /** Nothing is new. */
  static final News NONE = new News(Set.of(), Set.of(), 0);

  /** Returns the parts that the series of a measure may have by rules. */
  static Set<String> parts(MeasureConfig measure) {
    String name = measure.name();
    Set<String> parts =
        new HashSet<>(List.of(alone(name), withForm(name, SpanMeasures.form(measure).text())));
    for (Dimension dimension : measure.dimensions()) {
      parts.add(withLabel(name, dimension.utf8Label()));
    }
    measure.labels().forEach(label -> parts.add(withValue(name, label.label(), label.value())));
    return parts;
  }

  /**
   * Returns the parts of a measure that a series has; none for an overflow series.
   *
   * @param firstLabel position of the first label after the dimensions
   */
  static Set<String> parts(SeriesDefinition definition, int firstLabel) {
    List<String> values = definition.values();
    String name = values.get(SeriesDefinition.SPAN_NAME);
    Set<String> parts = new HashSet<>();
    parts.add(alone(name));
    for (int at = firstLabel; at + 1 < values.size(); at += 2) {
      String label = values.get(at);
      if (label.equals(MetricsConfig.OVERFLOW_LABEL)) {
        return Set.of();
      }
      if (label.equals(Form.KEY)) {
        parts.add(withForm(name, values.get(at + 1)));
      } else {
        parts.add(withLabel(name, label));
        parts.add(withValue(name, label, values.get(at + 1)));
      }
    }
    return parts;
  }

  /** Returns the name of the measure that has a part. */
  static String name(String part) {
    return part.lines().findFirst().orElseThrow();
  }

  // Names and labels have no end of line, so no part is a label of a dimension.
  private static String alone(String name) {
    return name + "\n";
  }

  private static String withForm(String name, String form) {
    return name + "\nform " + form;
  }

  private static String withLabel(String name, String label) {
    return name + "\nlabel " + label;
  }

  private static String withValue(String name, String label, String value) {
    return name + "\nvalue " + label + "=" + value;
  }

  /** Returns whether a series is new. */
  boolean has(SeriesDefinition definition) {
    if (definition.isOfMeasure()) {
      return !measures.isEmpty()
          && parts(definition, firstLabel).stream().anyMatch(measures::contains);
    }
    return !definition.overflow()
        && places.stream().anyMatch(at -> isSent(definition.values().get(at)));
  }

  private static boolean isSent(String value) {
    return value != null && !value.isEmpty() && !value.equals(BatchDecoder.NOT_SENT);
  }
}
