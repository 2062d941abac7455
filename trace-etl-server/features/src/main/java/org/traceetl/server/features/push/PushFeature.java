package org.traceetl.server.features.push;

import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;

/** Pushes series of spans, and of edges if there are some, to endpoints. */
final class PushFeature implements Feature {
  private static final double MILLIS_PER_SECOND = 1_000;
  private static final String PREFIX = "trace_etl_push_";
  private static final String ENDPOINT = "endpoint";

  private final List<PushEndpoint> endpoints;

  /** Null without endpoints. */
  private final PushFollower ofSpans;

  /** Null without endpoints or edges. */
  private final PushFollower ofEdges;

  /**
   * @param endpoints of both followers
   * @param ofSpans null without endpoints
   * @param ofEdges null without endpoints or edges
   */
  PushFeature(List<PushEndpoint> endpoints, PushFollower ofSpans, PushFollower ofEdges) {
    this.endpoints = endpoints;
    this.ofSpans = ofSpans;
    this.ofEdges = ofEdges;
  }

  private Stream<PushFollower> followersOfBoth() {
    return Stream.of(ofSpans, ofEdges).filter(Objects::nonNull);
  }

  @Override
  public void metrics(MetricRegistry registry) {
    if (ofSpans == null) {
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
        PushFollower::lag);
    gauge(
        registry,
        "open_pane_rows",
        "Series with spans in a queue's open panes, counted once in each pane.",
        PushFollower::openRows);
    registry.counter(
        PREFIX + "panes_merged_total",
        "Open panes that were merged into the next one because they were too many or too large.",
        ENDPOINT,
        () -> ofAll(PushFollower::mergedPanes));
  }

  /** Returns the values of all endpoints by name. */
  private <V> Map<String, V> ofAll(Function<PushFollower, Map<String, V>> values) {
    Map<String, V> all = new LinkedHashMap<>();
    followersOfBoth().forEach(follower -> all.putAll(values.apply(follower)));
    return all;
  }

  private void gauge(
      MetricRegistry registry,
      String name,
      String help,
      Function<PushFollower, Map<String, Map<QueueId, Long>>> values) {
    registry.collector(() -> {
      var family = new GaugeMetricFamily(PREFIX + name, help, List.of(ENDPOINT, "queue"));
      ofAll(values)
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
    return ofSpans == null ? List.of() : List.of(ofSpans);
  }

  @Override
  public List<WindowFollower> edgeFollowers() {
    return ofEdges == null ? List.of() : List.of(ofEdges);
  }

  @Override
  public void status(Map<String, Object> fields) {
    if (ofSpans != null) {
      Map<String, String> states = new LinkedHashMap<>();
      for (PushEndpoint endpoint : endpoints) {
        states.put(endpoint.name(), endpoint.telemetry().healthy() ? "healthy" : "failing");
      }
      fields.put("push", states);
    }
  }

  @Override
  public void start(Endpoint here) {
    followersOfBoth().forEach(PushFollower::start);
  }

  /** Healthy also if an endpoint or a broker is away. */
  @Override
  public boolean healthy() {
    return followersOfBoth().allMatch(PushFollower::alive);
  }

  @Override
  public void close() {
    followersOfBoth().forEach(PushFollower::close);
  }
}
