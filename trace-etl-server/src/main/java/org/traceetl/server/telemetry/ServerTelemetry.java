package org.traceetl.server.telemetry;

import io.prometheus.client.Collector;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.Gauge;
import io.prometheus.client.GaugeMetricFamily;
import io.prometheus.client.Histogram;
import io.prometheus.client.exporter.common.TextFormat;
import io.prometheus.client.hotspot.DefaultExports;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.component.Timer;
import org.traceetl.server.consume.PipelineListener;
import org.traceetl.server.expose.Format;
import org.traceetl.server.journal.WindowFollower;

/**
 * The server's own metrics, in a registry of its own. Parts are added while the server is put
 * together; reading is safe from any thread and changes nothing.
 */
public final class ServerTelemetry implements MetricRegistry {
  private static final int MAX_APPLICATIONS = 10_000;
  private static final double[] SECONDS = {
    0.000_01, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5
  };

  private static final String PREFIX = "trace_etl_";
  private static final String SUFFIX = "_seconds";

  private final String version;
  private final CollectorRegistry registry = new CollectorRegistry();
  private final List<Timer> timers = new CopyOnWriteArrayList<>();
  private final ApplicationBooks books;
  private final CardinalityReports cardinality = new CardinalityReports();
  private final PipelineTelemetry pipeline;

  /**
   * @param version of this build
   * @param idle an application without spans for so long leaves
   */
  public ServerTelemetry(String version, Duration idle) {
    this.version = version;
    Gauge.build("trace_etl_build_info", "1, with the server's version as a label.")
        .labelNames("version")
        .register(registry)
        .labels(version)
        .set(1);
    books = new ApplicationBooks(MAX_APPLICATIONS, idle.toMillis());
    pipeline = new PipelineTelemetry(this, cardinality, registry);
    collector(() -> {
      var family =
          new GaugeMetricFamily(
              "trace_etl_cardinality_culprit",
              "Different values of the dimension that has most, of applications at a limit of series.",
              List.of("application", "dimension"));
      cardinality.culprits().forEach((labels, values) -> family.addMetric(labels, values));
      return family;
    });
    DefaultExports.register(registry);
  }

  /** Counts and times what it hears. */
  public PipelineListener pipeline() {
    return pipeline;
  }

  /** Adds up the books of the windows it is given. */
  public WindowFollower books() {
    return books;
  }

  /** The applications near or at a limit of series; to be given the windows as well. */
  public CardinalityReports cardinality() {
    return cardinality;
  }

  @Override
  public Timer timer(String name, String help) {
    Timer timer =
        new Timer(
            name.substring(PREFIX.length(), name.length() - SUFFIX.length()).replace('_', ' '),
            Histogram.build(name, help).buckets(SECONDS).register(registry));
    timers.add(timer);
    return timer;
  }

  /** What is timed, in the order in which it was added. */
  public List<Timer> timers() {
    return List.copyOf(timers);
  }

  /** Of this build. */
  public String version() {
    return version;
  }

  @Override
  public void gauge(String name, String help, DoubleSupplier value) {
    collector(() -> new GaugeMetricFamily(name, help, value.getAsDouble()));
  }

  @Override
  public void gauge(
      String name,
      String help,
      String label,
      Supplier<? extends Map<String, ? extends Number>> values) {
    collector(() -> {
      var family = new GaugeMetricFamily(name, help, List.of(label));
      values.get().forEach((key, value) -> family.addMetric(List.of(key), value.doubleValue()));
      return family;
    });
  }

  @Override
  public void counter(String name, String help, DoubleSupplier value) {
    collector(() -> new CounterMetricFamily(name, help, value.getAsDouble()));
  }

  @Override
  public void counter(
      String name,
      String help,
      String label,
      Supplier<? extends Map<String, ? extends Number>> values) {
    collector(() -> {
      var family = new CounterMetricFamily(name, help, List.of(label));
      values.get().forEach((key, value) -> family.addMetric(List.of(key), value.doubleValue()));
      return family;
    });
  }

  /** All families, as they end a page: on one of OpenMetrics with {@code # EOF}. */
  public byte[] families(Format format) {
    List<Collector.MetricFamilySamples> families = books.samples();
    families.addAll(Collections.list(registry.metricFamilySamples()));
    if (format == Format.PROTOBUF) {
      return new ProtobufFamilies().write(families);
    }
    var out = new StringWriter(1 << 15);
    try {
      if (format == Format.OPENMETRICS) {
        TextFormat.writeOpenMetrics100(out, Collections.enumeration(families));
      } else {
        families.replaceAll(ServerTelemetry::withoutCreationTimes);
        TextFormat.write004(out, Collections.enumeration(families));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Text 0.0.4 has no place for creation times: there they would be families of their own. */
  private static Collector.MetricFamilySamples withoutCreationTimes(
      Collector.MetricFamilySamples family) {
    return new Collector.MetricFamilySamples(
        family.name,
        family.unit,
        family.type,
        family.help,
        family.samples.stream().filter(sample -> !sample.name.endsWith("_created")).toList());
  }

  private void collector(Supplier<Collector.MetricFamilySamples> family) {
    new Collector() {
      @Override
      public List<MetricFamilySamples> collect() {
        return List.of(family.get());
      }
    }.register(registry);
  }
}
