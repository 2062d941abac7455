package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.PageSample;
import tools.jackson.databind.JsonNode;

/**
 * Tests that the measures of the document's example count the spans of a real SDK: equally if
 * agents group spans by the demand, and if they send them in full.
 */
final class MeasuresTest {
  private static final int QUEUES = 2;
  private static final int REQUESTS = 120;
  private static final int CHATS = 40;
  private static final long REQUEST_NANOS = 20_000_000;
  private static final String GROUPED = "shop";
  private static final String FULL = "shop-full";
  private static final Pattern EXAMPLE = Pattern.compile("(?s)```yaml\n(.*?)```");

  @TempDir private Path directory;

  @Test
  void measuresOfTheDocumentCountGroupedSpansLikeFullOnes() throws Exception {
    Path file = directory.resolve("rules.yaml");
    Files.writeString(file, example());
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    properties.put("trace-etl.rules.file", file.toString());
    properties.put("trace-etl.rules.switch-after", "1s");
    properties.put("trace-etl.demand.full", FULL);
    try (EmbeddedInstallation installation =
            EmbeddedInstallation.start(SharedBroker.settings(topic, directory, properties));
        OtlpSpans grouped = OtlpSpans.overGrpc(GROUPED, installation.otlpGrpcPort());
        OtlpSpans full = OtlpSpans.overGrpc(FULL, installation.otlpGrpcPort())) {
      installation.awaitReady(Duration.ofSeconds(60));
      int port = installation.httpPort();
      awaitRules(installation);
      send(grouped);
      send(full);
      for (String service : List.of(GROUPED, FULL)) {
        EndToEndTest.eventually("the measures of " + service)
            .untilAsserted(() -> assertMeasures(EndToEndTest.samples(port), service));
      }
      List<PageSample> page = EndToEndTest.samples(port);
      assertThat(outcome(page, "recorded")).isEqualTo(2 * (REQUESTS + 2 * CHATS));
      for (String lost : List.of("overflowed", "not_a_number", "negative", "not_sent")) {
        assertThat(outcome(page, lost)).as(lost).isZero();
      }
    }
  }

  private static String example() throws IOException {
    Path document =
        Path.of(System.getProperty("basedir", ".")).resolve("..").resolve("docs/measures.md");
    Matcher example = EXAMPLE.matcher(Files.readString(document));
    assertThat(example.find()).isTrue();
    return example.group(1);
  }

  /** Waits until the server counts by the file, and the agent follows its demand. */
  private static void awaitRules(EmbeddedInstallation installation) {
    EndToEndTest.eventually("the file in force, and the agent with its demand")
        .untilAsserted(() -> {
          JsonNode rules = EndToEndTest.json(installation.httpPort(), "/api/rules");
          assertThat(rules.get("source").asString()).isEqualTo("file");
          assertThat(rules.get("waits").isNull()).isTrue();
          JsonNode demand = EndToEndTest.json(installation.httpPort(), "/api/demand");
          assertThat(demand.get("parts").toString()).contains("gen_ai.usage.output_tokens");
          assertThat(
                  PageSample.sum(
                      EndToEndTest.samples(installation.agentTelemetryPort()),
                      "trace_etl_agent_demand_version"))
              .isEqualTo(demand.get("version").asDouble());
        });
  }

  private static void send(OtlpSpans spans) {
    for (int i = 0; i < REQUESTS; i++) {
      spans.send(
          "GET",
          SpanKind.SERVER,
          StatusCode.UNSET,
          REQUEST_NANOS,
          Attributes.of(
              AttributeKey.stringKey("http.request.method"),
              "GET",
              AttributeKey.stringKey("http.route"),
              "/" + i % 3,
              AttributeKey.longKey("http.response.status_code"),
              200L));
    }
    for (int i = 0; i < CHATS; i++) {
      spans.send(
          "chat",
          SpanKind.CLIENT,
          StatusCode.UNSET,
          REQUEST_NANOS,
          Attributes.of(
              AttributeKey.stringKey("gen_ai.request.model"),
              "m",
              AttributeKey.longKey("gen_ai.usage.input_tokens"),
              (long) i,
              AttributeKey.longKey("gen_ai.usage.output_tokens"),
              2L * i));
    }
    spans.flush();
  }

  private static void assertMeasures(List<PageSample> page, String service) {
    String requests = "http_server_request_duration_seconds";
    assertThat(sum(page, requests + "_count", service, "http_route", "/1")).isEqualTo(40);
    assertThat(sum(page, requests + "_count", service)).isEqualTo(REQUESTS);
    assertThat(sum(page, requests + "_sum", service))
        .isCloseTo(REQUESTS * REQUEST_NANOS / 1e9, within(1e-9));
    assertThat(sum(page, requests + "_bucket", service, "le", "0.025")).isEqualTo(REQUESTS);
    assertThat(sum(page, requests + "_bucket", service, "le", "0.01")).isZero();
    String usage = "gen_ai_client_token_usage";
    int tokens = IntStream.range(0, CHATS).sum();
    assertThat(sum(page, usage + "_count", service)).isEqualTo(2 * CHATS);
    assertThat(sum(page, usage + "_sum", service, "gen_ai_token_type", "input")).isEqualTo(tokens);
    assertThat(sum(page, usage + "_sum", service, "gen_ai_token_type", "output"))
        .isEqualTo(2 * tokens);
  }

  /** Returns the sum of a service's samples, of those with the given labels. */
  private static double sum(List<PageSample> page, String name, String service, String... labels) {
    return page.stream()
        .filter(sample -> sample.name().equals(name))
        .filter(sample -> service.equals(sample.labels().get("service_name")))
        .filter(sample -> labels.length == 0 || labels[1].equals(sample.labels().get(labels[0])))
        .mapToDouble(PageSample::value)
        .sum();
  }

  private static double outcome(List<PageSample> page, String outcome) {
    return page.stream()
        .filter(sample -> sample.name().equals("trace_etl_measured_spans_total"))
        .filter(sample -> outcome.equals(sample.labels().get("outcome")))
        .mapToDouble(PageSample::value)
        .sum();
  }
}
