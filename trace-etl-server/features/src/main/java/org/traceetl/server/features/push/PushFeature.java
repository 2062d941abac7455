package org.traceetl.server.features.push;

import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.QueueId;

/** Pushes series to endpoints, if there are some. */
final class PushFeature implements Feature {
  private static final double MILLIS_PER_SECOND = 1_000;
  private static final String PREFIX = "trace_etl_push_";
  private static final String ENDPOINT = "endpoint";

  private final List<PushEndpoint> endpoints;

  /** Null without endpoints. */
  private final PushFollower follower;

  /**
   * @param follower null without endpoints
   */
  PushFeature(List<PushEndpoint> endpoints, PushFollower follower) {
    this.endpoints = endpoints;
    this.follower = follower;
  }

  @Override
  public void metrics(MetricRegistry registry) {
    if (follower == null) {
      return;
    }
    registry.counter(
        PREFIX + "samples_total",
        "Samples and native histograms, or points of OTLP, that an endpoint has written.",
        ENDPOINT,
        () -> byEndpoint(EndpointTelemetry::samples));
    registry.counter(
        PREFIX + "bytes_total",
        "Compressed bytes of answered requests to an endpoint.",
        ENDPOINT,
        () -> byEndpoint(EndpointTelemetry::bytes));
    registry.counter(
        PREFIX + "retries_total",
        "Requests to an endpoint that were sent again, or again in two parts.",
        ENDPOINT,
        () -> byEndpoint(EndpointTelemetry::retries));
    counter(
        registry,
        "requests_total",
        "Requests to an endpoint, by status of the answer; none without an answer.",
        "code",
        EndpointTelemetry::requests);
    counter(
        registry,
        "samples_refused_total",
        "Samples and native histograms, or points of OTLP, that an endpoint has refused for good,"
            + " by reason.",
        "reason",
        EndpointTelemetry::refused);
    registry.gauge(
        PREFIX + "last_error_timestamp_seconds",
        "Unix time of the last failure of an endpoint; 0 for none.",
        ENDPOINT,
        () -> byEndpoint(telemetry -> telemetry.lastErrorMillis() / MILLIS_PER_SECOND));
    registry.gauge(
        PREFIX + "healthy",
        "1 if the last request to an endpoint had a final answer, else 0.",
        ENDPOINT,
        () -> byEndpoint(telemetry -> telemetry.healthy() ? 1 : 0));
    gauge(
        registry,
        "lag_records",
        "Approximate number of records of a queue's journal that are not pushed to an endpoint.",
        follower::lag);
    gauge(
        registry,
        "open_pane_rows",
        "Series with spans in a queue's open panes, counted once in each pane.",
        follower::openRows);
    registry.counter(
        PREFIX + "panes_merged_total",
        "Open panes that were merged into the next one because they were too many or too large.",
        ENDPOINT,
        follower::mergedPanes);
  }

  private static void gauge(
      MetricRegistry registry,
      String name,
      String help,
      Supplier<Map<String, Map<QueueId, Long>>> values) {
    registry.collector(() -> {
      var family = new GaugeMetricFamily(PREFIX + name, help, List.of(ENDPOINT, "queue"));
      values
          .get()
          .forEach((endpoint, queues) ->
              queues.forEach(
                  (queue, value) -> family.addMetric(List.of(endpoint, queue.toString()), value)));
      return family;
    });
  }

  private void counter(
      MetricRegistry registry,
      String name,
      String help,
      String label,
      Function<EndpointTelemetry, Map<String, Long>> counts) {
    registry.collector(() -> {
      var family = new CounterMetricFamily(PREFIX + name, help, List.of(ENDPOINT, label));
      for (PushEndpoint endpoint : endpoints) {
        counts
            .apply(endpoint.telemetry())
            .forEach((value, count) -> family.addMetric(List.of(endpoint.name(), value), count));
      }
      return family;
    });
  }

  private Map<String, Double> byEndpoint(ToDoubleFunction<EndpointTelemetry> value) {
    Map<String, Double> values = new LinkedHashMap<>();
    for (PushEndpoint endpoint : endpoints) {
      values.put(endpoint.name(), value.applyAsDouble(endpoint.telemetry()));
    }
    return values;
  }

  @Override
  public List<WindowFollower> followers() {
    return follower == null ? List.of() : List.of(follower);
  }

  @Override
  public void status(Map<String, Object> fields) {
    if (follower != null) {
      Map<String, String> states = new LinkedHashMap<>();
      for (PushEndpoint endpoint : endpoints) {
        states.put(endpoint.name(), endpoint.telemetry().healthy() ? "healthy" : "failing");
      }
      fields.put("push", states);
    }
  }

  /** Alive also if an endpoint or a broker is away. */
  @Override
  public Background background() {
    return follower;
  }
}
