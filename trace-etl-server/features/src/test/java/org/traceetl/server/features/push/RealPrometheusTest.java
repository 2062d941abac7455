package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.testkit.Prometheus;
import tools.jackson.databind.JsonNode;

/** Pushes to a real Prometheus, in the version that it accepts. */
class RealPrometheusTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final String DURATION = "traces_span_metrics_duration_seconds";

  @TempDir private Path directory;

  private final long beginMillis =
      Clocks.SYSTEM.millis() / 15_000 * 15_000 - Duration.ofMinutes(5).toMillis();

  @Test
  void panesAreStoredOnceAtTheirTimes() throws Exception {
    PushNaming naming = PushFixture.naming(Kind.BOTH, Map.of("job", "pushed"));
    try (Prometheus prometheus = Prometheus.startReceiver(directory, Duration.ofHours(6));
        PushEndpoint endpoint = endpoint(naming, prometheus.writeUri())) {
      endpoint.start();
      SampleWriter before = endpoint.open(PushFixture.QUEUE, () -> {});
      for (int record = 1; record <= 4; record++) {
        addRecord(before, record);
      }
      awaitAnswer(before, 4);

      // As after a crash: the newest samples are accepted again, the older ones refused.
      SampleWriter after = endpoint.open(PushFixture.QUEUE, () -> {});
      for (int record = 3; record <= 5; record++) {
        addRecord(after, record);
      }
      awaitAnswer(after, 5);

      List<String> panes = new ArrayList<>();
      for (int record = 1; record <= 5; record++) {
        panes.add((3 * record) + "@" + at(record));
      }
      assertThat(samples(prometheus, CALLS + "{job=\"pushed\"}"))
          .hasSize(10)
          .allSatisfy((labels, samples) -> assertThat(samples).isEqualTo(panes));
      assertThat(samples(prometheus, DURATION + "_bucket{le=\"0.1\",span_name=\"GET /3\"}"))
          .hasSize(1)
          .allSatisfy((labels, samples) -> assertThat(samples.getLast()).startsWith("10@"));
      assertThat(prometheus.value("histogram_count(" + DURATION + "{span_name=\"GET /3\"})"))
          .isEqualTo(15);
      assertThat(prometheus.value("histogram_sum(" + DURATION + "{span_name=\"GET /3\"})"))
          .isEqualTo(0.5);
      assertThat(prometheus.exemplars(CALLS + " or " + DURATION + "_bucket"))
          .anySatisfy(
              exemplar -> assertThat(exemplar).containsEntry("span_id", "0000000000000009"));

      after.stale(PushFixture.definitions(10).get(3), at(6));
      after.end(6);
      awaitAnswer(after, 6);
      assertThat(prometheus.query(CALLS)).hasSize(9);
      assertThat(endpoint.telemetry().healthy()).isTrue();
    }
  }

  private static PushEndpoint endpoint(PushNaming naming, URI uri) {
    PushConfig.Endpoint config = PushConfig.Endpoint.at(uri);
    return new PushEndpoint(
        config.name(),
        config,
        "servers-push-default",
        naming,
        new HttpTransport(config, Clocks.SYSTEM),
        Clocks.SYSTEM);
  }

  private static void awaitAnswer(SampleWriter writer, long offset) {
    await()
        .pollInSameThread()
        .atMost(LONG)
        .until(() -> {
          writer.flush();
          return writer.answered() == offset;
        });
  }

  private long at(int record) {
    return beginMillis + record * 15_000L;
  }

  private void addRecord(SampleWriter writer, int record) {
    NativeTotals natives = new NativeTotals();
    natives.set(0, new char[] {0, 300, 301}, new long[] {record, record, record});
    for (SeriesDefinition definition : PushFixture.definitions(10)) {
      writer.sample(
          definition,
          beginMillis,
          at(record),
          new long[] {record, record, record},
          0,
          3,
          100L * record,
          0,
          natives,
          0,
          new SampleExemplar(1, 7, 8, 9, 20_000_000, at(record)));
    }
    writer.end(record);
  }

  /** Returns the samples of the last hour as value and time, by labels. */
  private static Map<String, List<String>> samples(Prometheus prometheus, String selector)
      throws Exception {
    Map<String, List<String>> all = new TreeMap<>();
    String query = "/api/v1/query?query=" + Prometheus.encode(selector + "[1h]");
    for (JsonNode series : prometheus.data(query).path("result")) {
      List<String> samples = new ArrayList<>();
      for (JsonNode point : series.path("values")) {
        samples.add(point.get(1).asString() + "@" + Math.round(point.get(0).asDouble() * 1_000));
      }
      all.put(Prometheus.labels(series).toString(), samples);
    }
    return all;
  }
}
