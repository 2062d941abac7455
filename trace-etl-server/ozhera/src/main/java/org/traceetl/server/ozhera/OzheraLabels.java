package org.traceetl.server.ozhera;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.window.SeriesDefinition;

/** A series of profile ozhera as OzHera labels it: texts of labels without braces. */
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
   * @return null if it is of no type that there is, as one of another server's version may be
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

  /** One of {@link SeriesLayout}'s. */
  public int outcome() {
    return outcome;
  }

  /** What OzHera calls the metrics of its type. */
  public TypeMetrics metrics() {
    return METRICS.get(type);
  }

  /** Whether its counter of failed spans tells codes apart. */
  public boolean isCoded() {
    return metrics().errorCode() && outcome == SeriesLayout.FAILED;
  }

  /** Labels of metrics that tell methods apart. */
  public String named() {
    return labels(true);
  }

  /** Labels of the histogram that does not tell methods apart. */
  public String unnamed() {
    return labels(false);
  }

  /** Labels of the counter of failed spans that tells codes apart. */
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
    // Written even if it is empty, so that what follows can begin with a comma.
    LabelText.append(out, "application", application());
    append(out, "serverIp", dimension(SeriesLayout.SERVER_IP));
    append(out, "serverEnv", orElse(dimension(SeriesLayout.SERVER_ENV), DEFAULT_ENV));
    append(out, "serverEnvId", dimension(SeriesLayout.SERVER_ENV_ID));
    return out.toString();
  }

  /** To Prometheus an empty label is an absent one. */
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

  /** What stands there as a number of at most two digits; -1 for anything else. */
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
