package org.traceetl.perf.bench.load;

import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * A counter and a histogram of spans in one of Prometheus' client libraries, with the names and
 * labels of the pages.
 */
public interface ClientLibrary {
  String CALLS = "traces_span_metrics_calls";
  String CALLS_HELP = "Spans, by service, name, kind and status.";
  String DURATION = "traces_span_metrics_duration_milliseconds";
  String DURATION_HELP = "Duration of spans in milliseconds.";
  String[] LABELS = {"service_name", "span_name", "span_kind", "status_code"};

  /** Finds or creates the children of the series with these label values. */
  Child child(String service, String name, String kind, String status);

  /** Writes all metrics, as the library's own HTTP server does. */
  void write(boolean openMetrics, OutputStream out) throws IOException;

  interface Child {
    void record(double millis);
  }

  /** Simpleclient 0.16, the library until 2023. */
  final class Simpleclient implements ClientLibrary {
    private final CollectorRegistry registry = new CollectorRegistry();
    private final io.prometheus.client.Counter calls;
    private final io.prometheus.client.Histogram durations;

    public Simpleclient(double... boundsMillis) {
      calls =
          io.prometheus.client.Counter.build(CALLS, CALLS_HELP)
              .labelNames(LABELS)
              .register(registry);
      durations =
          io.prometheus.client.Histogram.build(DURATION, DURATION_HELP)
              .labelNames(LABELS)
              .buckets(boundsMillis)
              .register(registry);
    }

    @Override
    public Child child(String service, String name, String kind, String status) {
      io.prometheus.client.Counter.Child call = calls.labels(service, name, kind, status);
      io.prometheus.client.Histogram.Child duration = durations.labels(service, name, kind, status);
      return millis -> {
        call.inc();
        duration.observe(millis);
      };
    }

    @Override
    public void write(boolean openMetrics, OutputStream out) throws IOException {
      try (Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8)) {
        if (openMetrics) {
          TextFormat.writeOpenMetrics100(writer, registry.metricFamilySamples());
        } else {
          TextFormat.write004(writer, registry.metricFamilySamples());
        }
      }
    }
  }

  /** Its successor, client_java 1.x, with classic buckets only. */
  final class ClientJava implements ClientLibrary {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Counter calls;
    private final Histogram durations;

    public ClientJava(double... boundsMillis) {
      calls =
          Counter.builder()
              .name(CALLS)
              .help(CALLS_HELP)
              .labelNames(LABELS)
              .withoutExemplars()
              .register(registry);
      durations =
          Histogram.builder()
              .name(DURATION)
              .help(DURATION_HELP)
              .labelNames(LABELS)
              .classicOnly()
              .classicUpperBounds(boundsMillis)
              .withoutExemplars()
              .register(registry);
    }

    @Override
    public Child child(String service, String name, String kind, String status) {
      CounterDataPoint call = calls.labelValues(service, name, kind, status);
      DistributionDataPoint duration = durations.labelValues(service, name, kind, status);
      return millis -> {
        call.inc();
        duration.observe(millis);
      };
    }

    @Override
    public void write(boolean openMetrics, OutputStream out) throws IOException {
      if (openMetrics) {
        OpenMetricsTextFormatWriter.create()
            .write(out, registry.scrape(), EscapingScheme.ALLOW_UTF8);
      } else {
        PrometheusTextFormatWriter.create()
            .write(out, registry.scrape(), EscapingScheme.ALLOW_UTF8);
      }
    }
  }
}
