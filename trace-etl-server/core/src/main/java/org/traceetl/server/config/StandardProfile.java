package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;

import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;
import org.traceetl.server.config.MetricsConfig.Unit;

/** The profiles whose series copy attributes of spans. */
public enum StandardProfile implements Profile {
  /** OpenTelemetry's span metrics connector; Jaeger's monitor tab. */
  OTEL("traces_span_metrics", Unit.MILLISECONDS, "service_name"),
  /** Tempo's metrics generator; Grafana's span metrics table. */
  TEMPO("traces_spanmetrics", Unit.SECONDS, "service");

  private static final int TEMPO_BOUNDS = 14;

  private final String namespace;
  private final Unit unit;
  private final String applicationLabel;

  StandardProfile(String namespace, Unit unit, String applicationLabel) {
    this.namespace = namespace;
    this.unit = unit;
    this.applicationLabel = applicationLabel;
  }

  @Override
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String namespace() {
    return namespace;
  }

  @Override
  public Unit unit() {
    return unit;
  }

  @Override
  public List<String> labels() {
    return List.of(applicationLabel, "span_name", "span_kind", "status_code");
  }

  /** Profile tempo: 2 ms, doubled 13 times. */
  @Override
  public HistogramConfig histogram() {
    return new HistogramConfig(
        this == OTEL
            ? null
            : DoubleStream.iterate(2, bound -> 2 * bound).limit(TEMPO_BOUNDS).boxed().toList());
  }

  @Override
  public void checkNames(String namespace, Unit unit) {
    check(
        this != TEMPO || unit == Unit.SECONDS,
        "trace-etl.metrics.unit",
        unit.name().toLowerCase(Locale.ROOT),
        "must be seconds with profile tempo");
  }
}
