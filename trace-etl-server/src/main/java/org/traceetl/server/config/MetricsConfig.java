package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import java.util.List;
import java.util.stream.DoubleStream;

/**
 * How series are named on the page: {@code trace-etl.metrics}. A missing value is its default.
 *
 * @param profile whose names; default {@link Profile#OTEL}
 * @param namespace what the names begin with; default the profile's own: {@code
 *     traces_span_metrics}, {@code traces_spanmetrics}; nothing else with profile ozhera, whose
 *     names begin with {@link OzheraConfig#env}
 * @param unit of durations; default the profile's own; tempo's is seconds alone
 * @param queueLabel which series bear their queue's name; default {@link QueueLabel#CONFLICT}
 */
public record MetricsConfig(Profile profile, String namespace, Unit unit, QueueLabel queueLabel) {
  /** Marks the series of what found no room. */
  public static final String OVERFLOW_LABEL = "otel_metric_overflow";

  /** Tells apart series of different queues that would otherwise have the same labels. */
  public static final String QUEUE_LABEL = "trace_etl_queue";

  private static final String PREFIX = "trace-etl.metrics.";

  public MetricsConfig {
    profile = orElse(profile, Profile.OTEL);
    check(
        profile != Profile.OZHERA || namespace == null || namespace.equals(profile.namespace),
        PREFIX + "namespace",
        namespace,
        "must be absent with profile ozhera: trace-etl.ozhera.env is what names begin with");
    namespace = orElse(namespace, profile.namespace);
    unit = orElse(unit, profile.unit);
    queueLabel = orElse(queueLabel, QueueLabel.CONFLICT);
    check(
        namespace.matches("[a-zA-Z_:][a-zA-Z0-9_:]*"),
        PREFIX + "namespace",
        namespace,
        "must be the beginning of a Prometheus metric name: letters, digits, _ and :");
    check(
        profile != Profile.OZHERA || unit == Unit.MILLISECONDS,
        PREFIX + "unit",
        unit.name().toLowerCase(java.util.Locale.ROOT),
        "must be milliseconds with profile ozhera");
    check(
        profile != Profile.TEMPO || unit == Unit.SECONDS,
        PREFIX + "unit",
        unit.name().toLowerCase(java.util.Locale.ROOT),
        "must be seconds with profile tempo");
  }

  public static MetricsConfig defaults() {
    return new MetricsConfig(null, null, null, null);
  }

  /** Whose dashboards the names fit. */
  public enum Profile {
    /** OpenTelemetry's span metrics connector; Jaeger's monitor tab. */
    OTEL("traces_span_metrics", Unit.MILLISECONDS, "service_name"),
    /** Tempo's metrics generator; Grafana's span metrics table. */
    TEMPO("traces_spanmetrics", Unit.SECONDS, "service"),
    /** Apache OzHera's metric service: names and deltas of its own, see {@link OzheraConfig}. */
    OZHERA("hera", Unit.MILLISECONDS, "application");

    private static final int TEMPO_BOUNDS = 14;

    private final String namespace;
    private final Unit unit;
    private final String applicationLabel;

    Profile(String namespace, Unit unit, String applicationLabel) {
      this.namespace = namespace;
      this.unit = unit;
      this.applicationLabel = applicationLabel;
    }

    /** Labels of the dimensions that every series has, in their order. */
    public List<String> labels() {
      return List.of(applicationLabel, "span_name", "span_kind", "status_code");
    }

    /** The documents that its pages expect in Elasticsearch. */
    public IndexConfig.Elasticsearch.Layout layout() {
      return this == OZHERA
          ? IndexConfig.Elasticsearch.Layout.OZHERA
          : IndexConfig.Elasticsearch.Layout.DATA_STREAM;
    }

    /** The bounds that its dashboards expect: of tempo 2 ms doubled 13 times. */
    public HistogramConfig histogram() {
      return new HistogramConfig(
          switch (this) {
            case OTEL -> null;
            case TEMPO ->
                DoubleStream.iterate(2, bound -> 2 * bound).limit(TEMPO_BOUNDS).boxed().toList();
            case OZHERA -> OzheraConfig.boundsMillis();
          });
    }
  }

  /** Which series have the label {@link #QUEUE_LABEL}. */
  public enum QueueLabel {
    /**
     * Those whose labels another series of the same page has. Other servers' pages are not seen.
     */
    CONFLICT,

    /** All: whatever has the same labels on another queue is another series, on every server. */
    ALWAYS
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
