package org.traceetl.server.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.traceetl.server.config.MeasureConfig.Constant;
import org.traceetl.server.config.MeasureConfig.Source;
import org.traceetl.server.config.MeasureConfig.Type;

/**
 * A service level objective of applications: which of their spans are events, which of these are
 * good, and how many are to be good. Only files of rules have objectives. The spans are counted as
 * two measures, which have one series each for each application and queue.
 *
 * @param name of the objective; required. Label {@code slo} of its series
 * @param target percent of the events that are to be good, above 0 and below 100; required
 * @param fasterThan a good event takes less time than this; default: good events take any time
 * @param operation name of the spans as series have it, with {@code *} as wildcard; default all
 * @param kinds kinds of the spans; default {@code server} and {@code consumer}
 * @param window time in which the budget may be spent, in whole days, 7 to 90; default 30 days
 */
public record ObjectiveConfig(
    String name,
    Double target,
    Duration fasterThan,
    String operation,
    Set<SpanKind> kinds,
    Duration window) {
  /** Maximum number of objectives of one application. */
  public static final int MAX_OBJECTIVES = 16;

  /** Name of the metric of all events. */
  public static final String EVENTS = "trace_etl_slo_events";

  /** Name of the metric of good events. */
  public static final String GOOD = "trace_etl_slo_good";

  /** Label with the name of the objective. */
  public static final String LABEL = "slo";

  private static final String KEY = "trace-etl.objectives";
  private static final String PREFIX = KEY + ".";
  private static final String NAME = "[a-zA-Z0-9][a-zA-Z0-9_-]{0,62}";
  private static final double ALL = 100;
  private static final int PERCENT_DIGITS = 2;
  private static final Duration MAX_THRESHOLD = Duration.ofDays(365);
  private static final int MIN_DAYS = 7;
  private static final int MAX_DAYS = 90;
  private static final int MAX_OPERATION_BYTES = 256;

  public ObjectiveConfig {
    check(
        name != null && name.matches(NAME),
        PREFIX + "name",
        name,
        "must have 1 to 63 letters, digits, _ and -, the first a letter or digit");
    check(
        target != null && target > 0 && target < ALL,
        PREFIX + "target",
        target,
        "must be the percent of good events, above 0 and below 100, such as 99.9");
    check(
        fasterThan == null || fasterThan.isPositive() && fasterThan.compareTo(MAX_THRESHOLD) <= 0,
        PREFIX + "faster-than",
        fasterThan,
        "must be a duration above 0, such as 300ms, at most 365 days");
    check(
        operation == null
            || !operation.isEmpty() && operation.getBytes(UTF_8).length <= MAX_OPERATION_BYTES,
        PREFIX + "operation",
        operation,
        "must have 1 to " + MAX_OPERATION_BYTES + " bytes of UTF-8");
    kinds =
        Collections.unmodifiableSet(
            EnumSet.copyOf(
                kinds == null || kinds.isEmpty()
                    ? Set.of(SpanKind.SERVER, SpanKind.CONSUMER)
                    : kinds));
    window = orElse(window, Duration.ofDays(30));
    check(
        window.equals(Duration.ofDays(window.toDays()))
            && window.toDays() >= MIN_DAYS
            && window.toDays() <= MAX_DAYS,
        PREFIX + "window",
        window,
        "must be " + MIN_DAYS + " to " + MAX_DAYS + " whole days, such as 30d");
  }

  /** Returns whether a metric is one of objectives. */
  public static boolean isMetric(String name) {
    return name.equals(EVENTS) || name.equals(GOOD);
  }

  /** Returns the part of the events that need not be good, without the noise of binary numbers. */
  public BigDecimal budget() {
    return BigDecimal.valueOf(ALL)
        .subtract(BigDecimal.valueOf(target))
        .movePointLeft(PERCENT_DIGITS);
  }

  /**
   * Returns whether generated alerts treat both alike. Objectives with the same name may differ in
   * the rest.
   */
  public boolean alertsLike(ObjectiveConfig other) {
    return target.equals(other.target) && window.equals(other.window);
  }

  /** Returns the measure of all events. */
  public MeasureConfig events() {
    return measure(EVENTS, "Spans that an objective counts.");
  }

  /** Returns the measure of good events, to which other events add 0. */
  public MeasureConfig good() {
    return measure(GOOD, "Spans that an objective counts as good.");
  }

  private MeasureConfig measure(String metric, String description) {
    return new MeasureConfig(
        metric,
        description,
        null,
        Type.COUNTER,
        Source.ONE,
        null,
        kinds,
        null,
        null,
        List.of(new Constant(LABEL, name)),
        null);
  }

  /**
   * Checks the objectives of one application.
   *
   * @param maxValueBytes maximum bytes of a name or value in a series
   * @throws org.traceetl.common.ConfigException if they are too many, or have the same name
   */
  public static void checkAll(List<ObjectiveConfig> objectives, int maxValueBytes) {
    check(
        objectives.size() <= MAX_OBJECTIVES,
        KEY,
        objectives.size() + " of them",
        "must be at most " + MAX_OBJECTIVES);
    check(
        objectives.isEmpty() || maxValueBytes >= MeasureConfig.MAX_TEXT_BYTES,
        KEY,
        objectives.size() + " of them",
        "must be absent, unless series.max-value-bytes is at least "
            + MeasureConfig.MAX_TEXT_BYTES);
    Set<String> names = new HashSet<>();
    for (int i = 0; i < objectives.size(); i++) {
      String name = objectives.get(i).name;
      check(
          names.add(name),
          KEY + "[" + i + "].name",
          name,
          "must not occur twice in the objectives of an application");
    }
  }
}
