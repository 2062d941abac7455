package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.Prometheus;
import tools.jackson.databind.JsonNode;

/**
 * Tests that a Prometheus which knows one server finds the others through it, and counts exactly
 * while one of them is killed.
 */
final class ServiceDiscoveryTest {
  private static final int QUEUES = 6;
  private static final int SERVICES = 6;
  private static final int OPERATIONS = 5;
  private static final String CALLS = "traces_span_metrics_calls_total";

  @TempDir private Path directory;

  @Test
  void prometheusFindsServersAndCountsExactly() throws Exception {
    EmbeddedInstallation.Settings settings = settings();
    try (EmbeddedInstallation first = EmbeddedInstallation.start(settings)) {
      String known = "127.0.0.1:" + first.httpPort();
      try (Prometheus prometheus = prometheus(known);
          ServerProcess killed =
              ServerProcess.start(
                  directory.resolve("killed"), EmbeddedInstallation.serverProperties(settings));
          ServerProcess stays =
              ServerProcess.start(
                  directory.resolve("stays"), EmbeddedInstallation.serverProperties(settings))) {
        EndToEndTest.eventually("three servers")
            // Two JVMs start, possibly on a busy machine.
            .atMost(Duration.ofMinutes(4))
            .untilAsserted(() -> assertThat(listed(first.httpPort())).hasSize(3).contains(known));
        try (Load load = new Load(first.otlpGrpcPort())) {
          Set<String> all = listed(first.httpPort());
          // Every server returns the same list.
          for (String server : all) {
            EndToEndTest.eventually("the same at " + server)
                .untilAsserted(() -> assertThat(listed(port(server))).isEqualTo(all));
          }
          EndToEndTest.eventually("all are scraped, and have series")
              .untilAsserted(() -> {
                assertThat(prometheus.targets()).isEqualTo(all);
                assertThat(prometheus.value("count(trace_etl_page_series > 0)")).isEqualTo(3);
              });

          killed.kill();

          EndToEndTest.eventually("the dead one leaves the list")
              .untilAsserted(() -> {
                assertThat(listed(first.httpPort())).hasSize(2).contains(known);
                assertThat(prometheus.targets()).isEqualTo(listed(first.httpPort()));
              });
          for (String server : listed(first.httpPort())) {
            EndToEndTest.eventually("the same at " + server)
                .untilAsserted(() -> assertThat(listed(port(server))).hasSize(2));
          }
          load.close();
          EndToEndTest.eventually("every span, once")
              .untilAsserted(
                  () -> assertThat(prometheus.value("sum(" + CALLS + ")")).isEqualTo(load.sent));
        }
        // Each series was one series on all servers, and never restarted.
        assertThat(prometheus.value("count(count_over_time(" + CALLS + "[1h]))"))
            .isEqualTo(SERVICES * OPERATIONS);
        assertThat(prometheus.value("sum(resets(" + CALLS + "[1h]))")).isZero();
        EndToEndTest.eventually("both are scraped")
            .untilAsserted(() -> {
              assertThat(prometheus.query("count by (instance) (" + CALLS + ")"))
                  .singleElement()
                  .satisfies(all -> assertThat(all.labels()).isEmpty());
              assertThat(prometheus.value("count(trace_etl_discovery_current == 1)")).isEqualTo(2);
              // Of two shards each; the series themselves do not tell their shard.
              assertThat(prometheus.value("count(up == 1)")).isEqualTo(4);
              assertThat(prometheus.query("count by (trace_etl_shard) ({__name__=~\"tra.*\"})"))
                  .singleElement()
                  .satisfies(all -> assertThat(all.labels()).isEmpty());
            });
      }
    }
  }

  private static int port(String server) {
    return Integer.parseInt(server.substring(server.lastIndexOf(':') + 1));
  }

  /** Returns the list of the server at the port; empty while it does not know. */
  private static Set<String> listed(int port) throws Exception {
    Set<String> targets = new TreeSet<>();
    for (JsonNode group : EndToEndTest.json(port, "/api/targets")) {
      assertThat(group.path("labels").path("__scheme__").asString()).isEqualTo("http");
      group.path("targets").forEach(target -> targets.add(target.asString()));
    }
    return targets;
  }

  /** Starts a Prometheus as in docs/cluster.md, which reads each page in two scrapes. */
  private Prometheus prometheus(String known) throws IOException, InterruptedException {
    return Prometheus.start(
        directory.resolve("prometheus"),
        "exemplar-storage",
        """
        global:
          scrape_interval: 2s
          scrape_timeout: 2s
        scrape_configs:
          - job_name: trace-etl-server
            http_sd_configs:
              - url: http://%s/api/targets?shards=2
                refresh_interval: 1s
            relabel_configs:
              - source_labels: [__param_shard]
                target_label: trace_etl_shard
            metric_relabel_configs:
              - action: labeldrop
                regex: trace_etl_shard
              - source_labels: [__name__]
                regex: traces_.*
                target_label: instance
                replacement: ""
        """
            .formatted(known));
  }

  /** Sends a few spans of all services each tenth of a second, until it is closed. */
  private static final class Load implements AutoCloseable {
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final List<OtlpSpans> services = new ArrayList<>();

    /** Owned by the thread; readable after it has ended. */
    private int sent;

    Load(int port) {
      for (int service = 0; service < SERVICES; service++) {
        services.add(OtlpSpans.overGrpc("service-" + service, port));
      }
      thread.scheduleWithFixedDelay(this::send, 0, 100, TimeUnit.MILLISECONDS);
    }

    private void send() {
      for (OtlpSpans spans : services) {
        for (int i = 0; i < OPERATIONS; i++) {
          spans.send("operation" + i, SpanKind.SERVER, StatusCode.OK, 5_000_000);
        }
        spans.flush();
        sent += OPERATIONS;
      }
    }

    @Override
    public void close() {
      // Waits for the current round.
      thread.close();
      services.forEach(OtlpSpans::close);
    }
  }

  private EmbeddedInstallation.Settings settings() throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = new HashMap<>();
    properties.put("trace-etl.rocketmq.workers", 1);
    properties.put("trace-etl.index.type", "none");
    properties.put("trace-etl.history.enabled", false);
    // A killed server shows its queues, and is listed, for these durations.
    properties.put("trace-etl.journal.lease", "3s");
    properties.put("trace-etl.discovery.forget-after", "3s");
    return SharedBroker.settings(topic, directory, properties);
  }
}
