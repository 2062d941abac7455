package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.WatchedFile;
import org.traceetl.server.minutes.CountBounds;
import org.traceetl.testkit.PageSample;
import tools.jackson.databind.JsonNode;

/**
 * Tests that an agent's sample of a real SDK's spans has a variance on the page and bounds in the
 * API, where the agent groups spans by the demand.
 */
final class ErrorBarsTest {
  private static final int TRACES = 2_000;
  private static final int FAILED = 7;

  /** One span stands for four. */
  private static final String RULES =
      """
      sample:
        - application: sampled
          ratio: 0.25
      """;

  private static final long WEIGHT = 4;
  private static final long VARIANCE = WEIGHT * (WEIGHT - 1);
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final String CALLS_VARIANCE = "traces_span_metrics_calls_variance_total";

  @TempDir private Path directory;

  @Test
  void sampledCallsHaveAVarianceAndBounds() throws Exception {
    Path filters = Files.writeString(directory.resolve("filters.yaml"), RULES);
    String topic = SharedBroker.newTopic(2);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    try (EmbeddedInstallation installation =
            EmbeddedInstallation.start(
                SharedBroker.settings(topic, directory, properties),
                Optional.of(new WatchedFile(filters, 50)),
                DetailConfig.defaults());
        OtlpSpans sampled = OtlpSpans.overGrpc("sampled", installation.otlpGrpcPort());
        OtlpSpans exact = OtlpSpans.overGrpc("exact", installation.otlpGrpcPort())) {
      installation.awaitReady(Duration.ofSeconds(60));
      int port = installation.httpPort();
      // From when the server writes variances and the agent groups; each is a trace of its own.
      EndToEndTest.eventually("the first variance, and the first span in a group")
          .until(() -> {
            sampled.send("GET /first", SpanKind.SERVER, StatusCode.UNSET, 1_000);
            sampled.flush();
            return sum(port, CALLS_VARIANCE, "GET /first") > 0 && grouped(installation) > 0;
          });
      // One trace has several spans of a series.
      EndToEndTest.eventually("spans of one trace that count as such")
          .until(() -> {
            Span parent = sampled.start("GET /", SpanKind.INTERNAL, Context.root());
            for (int i = 0; i < 3; i++) {
              sampled.start("SELECT", SpanKind.CLIENT, Context.root().with(parent)).end();
            }
            parent.end();
            sampled.flush();
            List<PageSample> page = EndToEndTest.samples(port);
            double calls = sum(page, CALLS, "SELECT");
            double variance = sum(page, CALLS_VARIANCE, "SELECT");
            assertThat(variance).isLessThanOrEqualTo(calls / WEIGHT * 3 * VARIANCE);
            return variance > calls / WEIGHT * VARIANCE;
          });

      long kept = 0;
      for (int i = 0; i < TRACES; i++) {
        String traceId = sampled.send("GET /cart", SpanKind.SERVER, StatusCode.UNSET, 1_000);
        kept += isKept(traceId) ? 1 : 0;
        exact.send("GET /cart", SpanKind.SERVER, StatusCode.UNSET, 1_000);
      }
      for (int i = 0; i < FAILED; i++) {
        sampled.send("GET /failed", SpanKind.SERVER, StatusCode.ERROR, 1_000);
      }
      sampled.flush();
      exact.flush();

      long calls = kept * WEIGHT;
      EndToEndTest.eventually("all calls on the page")
          .untilAsserted(() -> {
            assertThat(sum(port, CALLS, "GET /cart")).isEqualTo(calls + TRACES);
            assertThat(sum(port, CALLS, "GET /failed")).isEqualTo(FAILED);
          });
      assertThat(sum(port, CALLS_VARIANCE, "GET /cart")).isEqualTo(kept * VARIANCE);
      assertThat(sum(port, CALLS_VARIANCE, "GET /failed")).as("failed spans are all sent").isZero();
      assertThat(grouped(installation)).as("spans that the agent grouped").isGreaterThan(kept);
      EndToEndTest.eventually("all calls in the history")
          .untilAsserted(() -> assertBounds(minutes(port, "sampled"), calls));
      assertThat(minutes(port, "exact"))
          .isNotEmpty()
          .allSatisfy(minute -> assertThat(minute.get("callsBounds").isNull()).isTrue());
    }
  }

  /** Returns whether the sample has a trace. */
  private static boolean isKept(String traceId) {
    long randomness = Long.parseUnsignedLong(traceId.substring(18), 16);
    return randomness >= (1L << 56) / WEIGHT * (WEIGHT - 1);
  }

  /** Returns how many spans the agent put into groups. */
  private static double grouped(EmbeddedInstallation installation) throws Exception {
    return PageSample.sum(
        EndToEndTest.samples(installation.agentTelemetryPort()),
        "trace_etl_agent_spans_grouped_total");
  }

  private static double sum(int port, String name, String operation) throws Exception {
    return sum(EndToEndTest.samples(port), name, operation);
  }

  private static double sum(List<PageSample> page, String name, String operation) {
    return page.stream()
        .filter(sample -> sample.name().equals(name))
        .filter(sample -> operation.equals(sample.labels().get("span_name")))
        .mapToDouble(PageSample::value)
        .sum();
  }

  private static JsonNode minutes(int port, String application) throws Exception {
    return EndToEndTest.json(
            port,
            "/api/history?operation=GET%20/cart&kind=SPAN_KIND_SERVER&application=" + application)
        .get("minutes");
  }

  /** Each span was a trace of its own, so the variance of a call is the weight less 1. */
  private static void assertBounds(JsonNode minutes, long calls) {
    ToLongFunction<JsonNode> callsOf = minute -> minute.get("calls").asLong();
    assertThat(StreamSupport.stream(minutes.spliterator(), false).mapToLong(callsOf).sum())
        .isEqualTo(calls);
    assertThat(minutes)
        .allSatisfy(minute -> {
          CountBounds bounds = CountBounds.of(callsOf.applyAsLong(minute), WEIGHT - 1);
          assertThat(minute.at("/callsBounds/lower").asLong()).isEqualTo(bounds.lower());
          assertThat(minute.at("/callsBounds/upper").asLong()).isEqualTo(bounds.upper());
        });
  }
}
