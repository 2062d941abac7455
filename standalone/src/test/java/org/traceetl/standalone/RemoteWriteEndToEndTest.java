package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.standalone.EndToEndTest.eventually;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Prometheus;

/** Spans by OTLP into an agent; their series by Remote Write into a real Prometheus. */
final class RemoteWriteEndToEndTest {
  private static final String SERVICE = "pushed";
  private static final String SIZES = "traces_span_metrics_size_total";
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir private Path directory;

  @AfterEach
  void resetLogging() {
    System.clearProperty("logging.config");
  }

  @Test
  void prometheusGetsEachSpanOnceAlsoFromTheNextServer() throws Exception {
    try (Prometheus prometheus =
        Prometheus.startReceiver(directory.resolve("prometheus"), Duration.ofHours(6))) {
      String topic = SharedBroker.newTopic(4);
      Map<String, Object> properties = SharedBroker.decidingServer(topic);
      properties.put("trace-etl.window.grace", "1s");
      properties.put("trace-etl.metrics.size", true);
      properties.put("trace-etl.push.labels.cluster", "test");
      properties.put("trace-etl.push.endpoints[0].url", prometheus.writeUri() + "?secret");
      Path logged = directory.resolve("server.log");
      System.setProperty("logging.config", loggingTo(logged).toString());
      EmbeddedInstallation.Settings settings =
          SharedBroker.settings(topic, directory.resolve("installation"), properties);
      for (int rounds = 1; rounds <= 2; rounds++) {
        try (EmbeddedInstallation installation = EmbeddedInstallation.start(settings)) {
          installation.awaitReady(Duration.ofSeconds(60));
          try (OtlpSpans spans = OtlpSpans.overGrpc(SERVICE, installation.otlpGrpcPort())) {
            spans.sendExpected();
          }
          int expected = rounds;
          long bytes = rounds * sendSized(installation);
          eventually("Prometheus has the spans of round " + rounds)
              .untilAsserted(() -> Expected.assertIn(prometheus, SERVICE, expected));
          eventually("the sizes of round " + rounds + " on the page and in Prometheus")
              .untilAsserted(() -> {
                assertThat(sizeOnPage(installation.httpPort())).isEqualTo(bytes);
                assertThat(
                        prometheus.value(
                            "sum(" + SIZES + "{service_name=\"" + SizedSpans.SERVICE + "\"})"))
                    .isEqualTo(bytes);
              });
        }
      }
      List<Prometheus.Sample> series =
          prometheus.query("traces_span_metrics_calls_total{service_name=\"" + SERVICE + "\"}");
      assertThat(series)
          .allSatisfy(one ->
              assertThat(one.labels())
                  .containsEntry("job", "trace-etl")
                  .containsEntry("cluster", "test")
                  .containsKey("trace_etl_queue")
                  .doesNotContainKey("instance"));
      List<String> lines = Files.readAllLines(logged);
      assertThat(lines)
          .filteredOn(line -> line.contains("gets the series"))
          .hasSize(2)
          .allSatisfy(line ->
              assertThat(line)
                  .startsWith("INFO Push endpoint default gets the series")
                  .contains(
                      "receiver=http://"
                          + prometheus.writeUri().getAuthority()
                          + " protocol=remote-write temporality=cumulative shards=2")
                  .endsWith("group=" + topic + "-push-default"));
      assertThat(lines)
          .filteredOn(line -> line.contains("accepted the first"))
          .hasSize(2)
          .allSatisfy(line -> assertThat(line).matches("INFO .*: protocol=[12]\\.0 samples=\\d+"));
      assertThat(lines).noneMatch(line -> line.contains("secret"));
    }
  }

  /** Sends spans after the agent has a demand, most of them in groups; returns their bytes. */
  private static long sendSized(EmbeddedInstallation installation) throws Exception {
    int telemetry = installation.agentTelemetryPort();
    eventually("the demand")
        .until(() ->
            PageSample.sum(EndToEndTest.samples(telemetry), "trace_etl_agent_demand_version") > 0);
    SizedSpans spans = new SizedSpans();
    HttpResponse<byte[]> answer =
        HTTP.send(
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:" + installation.otlpHttpPort() + "/v1/traces"))
                .header("Content-Type", "application/x-protobuf")
                .POST(HttpRequest.BodyPublishers.ofByteArray(spans.request()))
                .build(),
            HttpResponse.BodyHandlers.ofByteArray());
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(
            PageSample.sum(EndToEndTest.samples(telemetry), "trace_etl_agent_spans_grouped_total"))
        .isGreaterThan(SizedSpans.COUNT / 2);
    return spans.bytes();
  }

  private static long sizeOnPage(int port) throws Exception {
    return EndToEndTest.samples(port).stream()
        .filter(sample -> sample.name().equals(SIZES))
        .filter(sample -> sample.labels().get("service_name").equals(SizedSpans.SERVICE))
        .mapToLong(sample -> (long) sample.value())
        .sum();
  }

  /** Returns a configuration by which push logs into a file. */
  private Path loggingTo(Path file) throws IOException {
    return Files.writeString(
        directory.resolve("logging.xml"),
        """
        <configuration>
          <appender name="file" class="ch.qos.logback.core.FileAppender">
            <file>%s</file>
            <encoder><pattern>%%level %%msg%%n</pattern></encoder>
          </appender>
          <logger name="org.traceetl.server.features.push" level="INFO">
            <appender-ref ref="file"/>
          </logger>
        </configuration>
        """
            .formatted(file));
  }
}
