package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.Elasticsearch;

/**
 * Tests the path from a real SDK through a real RocketMQ into a real Elasticsearch, and back by the
 * API.
 */
final class ElasticsearchEndToEndTest {
  @TempDir private Path directory;

  @Test
  void slowAndFailedSpansAreFound() throws Exception {
    Elasticsearch elasticsearch = Elasticsearch.shared();
    String topic = SharedBroker.newTopic(2);
    EmbeddedInstallation.Settings settings =
        SharedBroker.settings(
            topic,
            directory,
            Map.of(
                "trace-etl.index.type",
                "elasticsearch",
                "trace-etl.index.elasticsearch.urls",
                elasticsearch.url().toString(),
                "trace-etl.index.elasticsearch.data-stream",
                "end-to-end"));
    try (EmbeddedInstallation installation = EmbeddedInstallation.start(settings)) {
      installation.awaitReady(Duration.ofSeconds(60));
      Set<String> failed = new HashSet<>();
      Set<String> slow = new HashSet<>();
      try (OtlpSpans spans = OtlpSpans.overHttp("shop", installation.otlpHttpPort())) {
        for (int i = 0; i < 5; i++) {
          failed.add(spans.send("POST /orders", SpanKind.SERVER, StatusCode.ERROR, 5_000_000));
          slow.add(spans.send("GET /orders", SpanKind.SERVER, StatusCode.UNSET, 3_000_000_000L));
          spans.send("GET /health", SpanKind.SERVER, StatusCode.UNSET, 1_000_000);
        }
        spans.flush();
      }
      EndToEndTest.eventually("the failed spans")
          .untilAsserted(() -> assertThat(found(installation, "error")).isEqualTo(failed));
      EndToEndTest.eventually("the slow spans")
          .untilAsserted(() -> assertThat(found(installation, "slow")).isEqualTo(slow));
    }
  }

  private static Set<String> found(EmbeddedInstallation installation, String reason)
      throws Exception {
    return EndToEndTest.traceIds(
        EndToEndTest.traces(
            installation.httpPort(), "application=shop&limit=100&reason=" + reason));
  }
}
