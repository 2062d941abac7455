package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The names of series on the page: {@code trace-etl.metrics}. A missing value is its default.
 *
 * @param profile names, labels and buckets: {@code otel}, {@code tempo}, or a profile that an
 *     extension brings
 * @param namespace start of the metric names ({@code traces_spanmetrics} in {@code tempo}); a
 *     profile may refuse it
 * @param unit unit of durations ({@code tempo}: seconds only); a profile may allow only one
 * @param queueLabel which series have the label {@code trace_etl_queue}. Several servers need
 *     {@code always} if spans are spread at random, and before queues are added. No effect on
 *     deltas
 * @param names names of the labels of dimensions: {@code underscores}, such as {@code http_route},
 *     or {@code utf-8}, the attribute's key, such as {@code "http.route"}, for scrapers that accept
 *     UTF-8 names and in OTLP. No effect if the profile has names of its own
 * @param targetInfo attributes of resources, at most 32, that the metric {@code traces_target_info}
 *     shows for each application; without one, there is no such metric
 * @param size whether the metric {@code <namespace>_size_total} counts the bytes of the spans of
 *     each series, as agents receive them. Needs the demand. A profile with names of its own
 *     refuses it. A change begins all series of this server's configuration again
 */
public record MetricsConfig(
    Profile profile,
    String namespace,
    Unit unit,
    QueueLabel queueLabel,
    Names names,
    List<String> targetInfo,
    Boolean size) {
  /** Marks overflow series. */
  public static final String OVERFLOW_LABEL = "otel_metric_overflow";

  /** Distinguishes series of different queues that otherwise have the same labels. */
  public static final String QUEUE_LABEL = "trace_etl_queue";

  /**
   * Distinguishes the series of an application's own buckets and unit from those that it had before
   * and will have after, which pages show for some minutes at the same time.
   */
  public static final String FORM_LABEL = "trace_etl_form";

  private static final String PREFIX = "trace-etl.metrics.";
  private static final int MAX_TARGET_ATTRIBUTES = 32;
  private static final Pattern OTHER_CHARACTERS = Pattern.compile("[^a-zA-Z0-9_]");

  public MetricsConfig {
    profile = orElse(profile, StandardProfile.OTEL);
    namespace = orElse(namespace, profile.namespace());
    unit = orElse(unit, profile.unit());
    queueLabel = orElse(queueLabel, QueueLabel.CONFLICT);
    names = orElse(names, Names.UNDERSCORES);
    targetInfo = List.copyOf(orElse(targetInfo, List.of()));
    size = orElse(size, false);
    check(
        !size || profile.countsSizes(),
        PREFIX + "size",
        size,
        "must be false with profile " + profile.id());
    checkTargetInfo(profile, targetInfo);
    profile.checkNames(namespace, unit);
    check(
        namespace.matches("[a-zA-Z_:][a-zA-Z0-9_:]*"),
        PREFIX + "namespace",
        namespace,
        "must be a prefix of a Prometheus metric name: letters, digits, _ and :");
  }

  private static void checkTargetInfo(Profile profile, List<String> attributes) {
    String key = PREFIX + "target-info";
    check(
        attributes.size() <= MAX_TARGET_ATTRIBUTES,
        key,
        attributes.size() + " of them",
        "must be at most " + MAX_TARGET_ATTRIBUTES);
    Set<String> labels = new HashSet<>(profile.labels());
    for (String attribute : attributes) {
      String label = underscored(attribute);
      check(
          label.matches("[a-zA-Z_][a-zA-Z0-9_]*") && !label.startsWith("__"),
          key,
          attribute,
          "must be an attribute that begins with a letter or one _");
      check(labels.add(label), key, attribute, "must have a label of its own: " + label);
    }
  }

  /** Returns the label of an attribute: its key with {@code _} for other characters. */
  public static String underscored(String attribute) {
    return OTHER_CHARACTERS.matcher(attribute).replaceAll("_");
  }

  public static MetricsConfig defaults() {
    return new MetricsConfig(null, null, null, null, null, null, null);
  }

  /** The series that have the label {@link #QUEUE_LABEL}. */
  public enum QueueLabel {
    /**
     * Series whose other labels equal those of another series on the same page. Pages of other
     * servers are not considered.
     */
    CONFLICT,

    /** All series: series with equal labels on different queues are distinct on every server. */
    ALWAYS
  }

  /** The names of the labels of dimensions. */
  public enum Names {
    /** Letters, digits and underscores. */
    UNDERSCORES,

    /** The keys of the attributes, for readers that accept them. */
    UTF_8
  }

  /** Of durations. */
  public enum Unit {
    MILLISECONDS(1_000_000),
    SECONDS(1_000_000_000);

    private final long nanos;

    Unit(long nanos) {
      this.nanos = nanos;
    }

    public long nanos() {
      return nanos;
    }
  }
}
