package org.traceetl.server.delta;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.server.delta.LabelSet.Role;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.ozhera.SeriesLayout;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The labels of series, each kept once for as long as a series has it. What a scraper was not given
 * yet may keep one for longer; then there may be two of it, which are equal. One thread at a time.
 */
final class LabelSets {
  private static final String OVERFLOW = "_overflow";
  private static final String DEFAULT_ENV = "default_env";
  private static final String DEFAULT_ERROR_CODE = "500";
  private static final Map<SpanType, TypeMetrics> METRICS = new EnumMap<>(SpanType.class);

  static {
    for (SpanType type : SpanType.values()) {
      METRICS.put(type, TypeMetrics.of(type));
    }
  }

  private final Map<LabelSet, LabelSet> sets = new HashMap<>();

  /** What there are. */
  int size() {
    return sets.size();
  }

  /**
   * What a series adds to.
   *
   * @param id of the series
   * @return null if it is of no type that there is, as one of another server's version may be
   */
  DeltaSeries series(long id, SeriesDefinition definition) {
    List<String> values = definition.values();
    SpanType type = SpanType.of(number(values, SeriesDefinition.SPAN_KIND));
    int outcome = number(values, SeriesDefinition.STATUS_CODE);
    if (type == null || outcome < SeriesLayout.FAST || outcome > SeriesLayout.FAILED) {
      return null;
    }
    TypeMetrics metrics = METRICS.get(type);
    String named = labels(definition, metrics, true);
    boolean coded = metrics.errorCode() && outcome == SeriesLayout.FAILED;
    return new DeltaSeries(
        id,
        outcome,
        use(type, Role.NAMED, named),
        coded ? use(type, Role.ERRORS, coded(definition, named)) : null,
        metrics.withoutName() ? use(type, Role.UNNAMED, labels(definition, metrics, false)) : null);
  }

  private LabelSet use(SpanType type, Role role, String labels) {
    LabelSet set = new LabelSet(type, role, labels.getBytes(UTF_8));
    LabelSet known = sets.putIfAbsent(set, set);
    LabelSet used = known == null ? set : known;
    used.users++;
    return used;
  }

  /** A series has ended. */
  void release(DeltaSeries series) {
    release(series.named());
    release(series.errors());
    release(series.unnamed());
  }

  private void release(LabelSet set) {
    if (set != null && --set.users == 0) {
      sets.remove(set);
    }
  }

  private static String labels(SeriesDefinition definition, TypeMetrics metrics, boolean named) {
    var out = new StringBuilder(160);
    if (definition.overflow()) {
      if (named) {
        LabelText.append(out, metrics.name(), OVERFLOW);
      }
      LabelText.append(out, "application", application(definition));
      return out.toString();
    }
    append(out, metrics.target(), dimension(definition, SeriesLayout.TARGET));
    if (named) {
      append(out, metrics.name(), definition.values().get(SeriesDefinition.SPAN_NAME));
    }
    append(out, metrics.detail(), dimension(definition, SeriesLayout.DETAIL));
    // Written even if it is empty, so that what follows can begin with a comma.
    LabelText.append(out, "application", application(definition));
    append(out, "serverIp", dimension(definition, SeriesLayout.SERVER_IP));
    append(out, "serverEnv", orElse(dimension(definition, SeriesLayout.SERVER_ENV), DEFAULT_ENV));
    append(out, "serverEnvId", dimension(definition, SeriesLayout.SERVER_ENV_ID));
    return out.toString();
  }

  private static String coded(SeriesDefinition definition, String named) {
    if (definition.overflow()) {
      return named;
    }
    var out = new StringBuilder(named);
    append(
        out,
        "errorCode",
        orElse(dimension(definition, SeriesLayout.ERROR_CODE), DEFAULT_ERROR_CODE));
    return out.toString();
  }

  /** To Prometheus an empty label is an absent one. */
  private static void append(StringBuilder out, String label, String value) {
    if (label != null && value != null && !value.isEmpty()) {
      LabelText.append(out, label, value);
    }
  }

  private static String application(SeriesDefinition definition) {
    return orElse(definition.values().get(SeriesDefinition.APPLICATION), "").replace('-', '_');
  }

  private static String orElse(String value, String otherwise) {
    return value == null || value.isEmpty() ? otherwise : value;
  }

  private static String dimension(SeriesDefinition definition, int dimension) {
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
