package org.traceetl.server.ozhera;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.window.SeriesDefinition;

/** The labels of a series in profile ozhera, as texts without braces. */
public final class OzheraLabels {
  private static final String OVERFLOW = "_overflow";
  private static final String DEFAULT_ENV = "default_env";
  private static final String DEFAULT_ERROR_CODE = "500";
  private static final Map<SpanType, TypeMetrics> METRICS = new EnumMap<>(SpanType.class);

  static {
    for (SpanType type : SpanType.values()) {
      METRICS.put(type, TypeMetrics.of(type));
    }
  }

  private final SeriesDefinition definition;
  private final SpanType type;
  private final int outcome;

  private OzheraLabels(SeriesDefinition definition, SpanType type, int outcome) {
    this.definition = definition;
    this.type = type;
    this.outcome = outcome;
  }

  /**
   * Returns the labels of a series.
   *
   * @return null for an unknown type, which a later version of the server may have written
   */
  public static OzheraLabels of(SeriesDefinition definition) {
    SpanType type = SpanType.of(number(definition.values(), SeriesDefinition.SPAN_KIND));
    int outcome = number(definition.values(), SeriesDefinition.STATUS_CODE);
    return type == null || outcome < SeriesLayout.FAST || outcome > SeriesLayout.FAILED
        ? null
        : new OzheraLabels(definition, type, outcome);
  }

  public SpanType type() {
    return type;
  }

  /** Returns the outcome, one of {@link SeriesLayout}'s. */
  public int outcome() {
    return outcome;
  }

  /** Returns OzHera's metric names of the type. */
  public TypeMetrics metrics() {
    return METRICS.get(type);
  }

  /** Returns whether the counter of failed spans has a label for error codes. */
  public boolean isCoded() {
    return metrics().errorCode() && outcome == SeriesLayout.FAILED;
  }

  /** Returns the labels of metrics with a label for methods. */
  public String named() {
    return labels(true);
  }

  /** Returns the labels of the histogram without a label for methods. */
  public String unnamed() {
    return labels(false);
  }

  /** Returns the labels of the counter of failed spans with a label for error codes. */
  public String coded() {
    if (definition.overflow()) {
      return named();
    }
    var out = new StringBuilder(named());
    append(out, "errorCode", orElse(dimension(SeriesLayout.ERROR_CODE), DEFAULT_ERROR_CODE));
    return out.toString();
  }

  private String labels(boolean named) {
    TypeMetrics metrics = metrics();
    var out = new StringBuilder(160);
    if (definition.overflow()) {
      if (named) {
        LabelText.append(out, metrics.name(), OVERFLOW);
      }
      LabelText.append(out, "application", application());
      return out.toString();
    }
    append(out, metrics.target(), dimension(SeriesLayout.TARGET));
    if (named) {
      append(out, metrics.name(), definition.values().get(SeriesDefinition.SPAN_NAME));
    }
    append(out, metrics.detail(), dimension(SeriesLayout.DETAIL));
    // Written even if it is empty, so that the next label can begin with a comma.
    LabelText.append(out, "application", application());
    append(out, "serverIp", dimension(SeriesLayout.SERVER_IP));
    append(out, "serverEnv", orElse(dimension(SeriesLayout.SERVER_ENV), DEFAULT_ENV));
    append(out, "serverEnvId", dimension(SeriesLayout.SERVER_ENV_ID));
    return out.toString();
  }

  /** Returns whether a label has a value: Prometheus treats an empty label as absent. */
  private static void append(StringBuilder out, String label, String value) {
    if (label != null && value != null && !value.isEmpty()) {
      LabelText.append(out, label, value);
    }
  }

  private String application() {
    return orElse(definition.values().get(SeriesDefinition.APPLICATION), "").replace('-', '_');
  }

  private static String orElse(String value, String otherwise) {
    return value == null || value.isEmpty() ? otherwise : value;
  }

  private String dimension(int dimension) {
    int at = SeriesDefinition.FIXED_DIMENSIONS + dimension;
    return at < definition.values().size() ? definition.values().get(at) : null;
  }

  /** Parses a number of at most two digits; returns -1 for anything else. */
  private static int number(List<String> values, int at) {
    String text = at < values.size() ? values.get(at) : null;
    if (text == null || text.isEmpty() || text.length() > 2) {
      return -1;
    }
    int number = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = 10 * number + digit;
    }
    return number;
  }
}
