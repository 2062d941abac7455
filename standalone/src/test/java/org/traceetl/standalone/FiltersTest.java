package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.WatchedFile;
import org.traceetl.testkit.PageSample;

/** Tests that spans which the agent filters leave the metrics unchanged. */
final class FiltersTest {
  private static final int QUEUES = 2;
  private static final int COMMANDS = 4_000;
  private static final long MILLIS = 1_000_000;
  private static final String RULES =
      """
      # filters.yaml
      drop:
        - application: checkout
          kind: client
          attributes: {db.system: redis}
          unless-slower-than: 50ms
      """;

  private final Map<String, List<Long>> truth = new TreeMap<>();
  private final Set<String> remarkable = new HashSet<>();
  private final Set<String> unremarkable = new HashSet<>();

  @TempDir private Path directory;

  @Test
  void filteredCommandsCountLikeSentOnes() throws Exception {
    Path file = Files.writeString(directory.resolve("filters.yaml"), "# nothing yet\n");
    try (EmbeddedInstallation installation = start(file);
        OtlpSpans spans = OtlpSpans.overGrpc("checkout", installation.otlpGrpcPort())) {
      installation.awaitReady(Duration.ofSeconds(60));
      Map<String, Double> before = send(installation, spans);
      unremarkable.clear();

      Files.writeString(file, RULES);
      EndToEndTest.eventually("the rules in force")
          .until(() ->
              agent(installation).getOrDefault("reloads_total{what=filters_file,applied}", 0.0)
                  == 1);
      Map<String, Double> after = send(installation, spans);

      EndToEndTest.eventually("the truth").untilAsserted(() -> assertTruth(installation));
      EndToEndTest.eventually("documents of the slow and the failed")
          .untilAsserted(() -> assertThat(documents(installation)).containsAll(remarkable));
      assertThat(documents(installation)).doesNotContainAnyElementsOf(unremarkable);

      double sentBefore = before.get("bytes_published_total");
      double sentAfter = after.get("bytes_published_total") - sentBefore;
      assertThat(after.get("spans_measured_total")).isEqualTo(unremarkable.size());
      assertThat(sentAfter).isLessThan(sentBefore / 3);
      // The documentation shows these lines.
      System.out.println("Filters before: " + before);
      System.out.println("Filters after: " + after);
    }
  }

  private static Set<String> documents(EmbeddedInstallation installation) throws Exception {
    return EndToEndTest.traceIds(
        EndToEndTest.traces(installation.httpPort(), "application=checkout&limit=1000"));
  }

  private EmbeddedInstallation start(Path filters) throws Exception {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = new HashMap<>();
    properties.put("trace-etl.documents.slower-than", "50ms");
    properties.put("trace-etl.documents.per-series", 100_000);
    return EmbeddedInstallation.start(
        SharedBroker.settings(topic, directory, properties),
        Optional.of(new WatchedFile(filters, 50)),
        DetailConfig.defaults());
  }

  /** Sends an equal mixture each time; returns the agent's metrics after publishing. */
  private Map<String, Double> send(EmbeddedInstallation installation, OtlpSpans spans)
      throws Exception {
    for (int i = 0; i < COMMANDS; i++) {
      // Uses all buckets below the bound; some durations are on a bucket's bound.
      long durationNanos = i % 10 == 0 ? i % 50 * MILLIS : i * 12_345L % (50 * MILLIS);
      unremarkable.add(redis(spans, "GET", StatusCode.UNSET, durationNanos));
    }
    for (int i = 0; i < 20; i++) {
      remarkable.add(redis(spans, "GET", StatusCode.UNSET, (50 + i) * MILLIS));
      remarkable.add(redis(spans, "SET", StatusCode.ERROR, MILLIS));
      span(spans, "GET /cart", SpanKind.SERVER, StatusCode.OK, 5 * MILLIS, Attributes.empty());
    }
    spans.flush();
    long all = truth.values().stream().mapToLong(List::size).sum();
    EndToEndTest.eventually("all spans published")
        .until(() -> agent(installation).get("spans_published_total") == all);
    return agent(installation);
  }

  private String redis(OtlpSpans spans, String name, StatusCode status, long durationNanos) {
    Attributes attributes =
        Attributes.builder()
            .put("db.system", "redis")
            .put("db.query.text", name + " cart:" + durationNanos)
            .put("server.address", "redis.example.org")
            .put("server.port", 6379)
            .build();
    return span(spans, name, SpanKind.CLIENT, status, durationNanos, attributes);
  }

  private String span(
      OtlpSpans spans,
      String name,
      SpanKind kind,
      StatusCode status,
      long durationNanos,
      Attributes attributes) {
    truth.computeIfAbsent(labels(name, kind, status), key -> new ArrayList<>()).add(durationNanos);
    return spans.send(name, kind, status, durationNanos, attributes);
  }

  private static String labels(String name, SpanKind kind, StatusCode status) {
    return "service_name=\"checkout\",span_kind=\"SPAN_KIND_%s\",span_name=\"%s\",status_code=\"STATUS_CODE_%s\""
        .formatted(kind, name, status);
  }

  private void assertTruth(EmbeddedInstallation installation) throws Exception {
    Map<String, Double> page = new TreeMap<>();
    EndToEndTest.samples(installation.httpPort())
        .forEach(sample -> page.put(sample.series(), sample.value()));
    Map<String, Double> expected = new TreeMap<>();
    truth.forEach((labels, durations) -> {
      String histogram = "traces_span_metrics_duration_milliseconds";
      expected.put("traces_span_metrics_calls_total{" + labels + "}", (double) durations.size());
      expected.put(histogram + "_count{" + labels + "}", (double) durations.size());
      expected.put(
          histogram + "_sum{" + labels + "}",
          durations.stream().mapToLong(nanos -> nanos).sum() / 1e6);
      for (double bound : Expected.BOUNDS_MILLIS) {
        expected.put(
            histogram + "_bucket{le=\"" + bound + "\"," + labels + "}",
            (double) durations.stream().filter(nanos -> nanos <= bound * MILLIS).count());
      }
    });
    page.keySet().retainAll(expected.keySet());
    assertThat(page).isEqualTo(expected);
  }

  /** Returns the agent's counters in this test, over all labels, by short names. */
  private static Map<String, Double> agent(EmbeddedInstallation installation) throws Exception {
    Map<String, Double> values = new TreeMap<>();
    for (PageSample sample : EndToEndTest.samples(installation.agentTelemetryPort())) {
      String name = sample.name().replace("trace_etl_agent_", "");
      if (name.matches("(spans_.*|bytes_published|span_changes)_total")) {
        values.merge(name, sample.value(), Double::sum);
      } else if (name.equals("reloads_total")
          && sample.labels().equals(Map.of("what", "filters_file", "outcome", "applied"))) {
        values.put("reloads_total{what=filters_file,applied}", sample.value());
      }
    }
    return values;
  }
}
