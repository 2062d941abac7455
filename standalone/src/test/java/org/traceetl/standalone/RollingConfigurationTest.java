package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.testkit.PageSample;
import tools.jackson.databind.JsonNode;

/**
 * Tests a rolling restart with another dimension, bound or kind of histogram in the configuration.
 * A queue's series begin again when it moves to a server with another configuration, and only then.
 * No span is lost, and both servers' histories have the spans of both configurations.
 */
final class RollingConfigurationTest {
  private static final int QUEUES = 4;
  private static final int SPANS = 20;
  private static final String SHOP = "shop";
  private static final List<String> SERVICES = List.of("blog", "cart", "mail", SHOP);
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final String CREATED = "traces_span_metrics_calls_created";

  @TempDir private Path directory;
  private long sent;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "trace-etl.series.dimensions[0].attribute | customer.tier",
        "trace-etl.histogram.bounds-millis | 5,20",
        "trace-etl.histogram.kind | both"
      })
  void onlyQueuesOfTheOtherConfigurationBeginAgain(String key, String value) throws Exception {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = new HashMap<>();
    properties.put("trace-etl.rocketmq.workers", 1);
    properties.put("trace-etl.index.type", "none");
    properties.put("trace-etl.metrics.queue-label", "always");
    EmbeddedInstallation.Settings former = SharedBroker.settings(topic, directory, properties);
    properties.put(key, value);
    EmbeddedInstallation.Settings changed = SharedBroker.settings(topic, directory, properties);
    Pages pages = new Pages();
    EmbeddedInstallation first = EmbeddedInstallation.start(former);
    try {
      first.awaitReady(Duration.ofSeconds(60));
      send(first);
      await(pages, first.httpPort());
      try (TraceEtlServer second = TraceEtlServer.start(SharedBroker.furtherServer(changed))) {
        awaitQueuesOnEach(pages, first.httpPort(), second.port());
        send(first);
        await(pages, first.httpPort(), second.port());
        assertThat(pages.restarted)
            .as("queues of the second server, and no others")
            .isNotEmpty()
            .isSubsetOf(pages.look(second.port()));

        first.close();
        EndToEndTest.eventually("the other queues on the second server")
            .untilAsserted(() ->
                assertThat(EndToEndTest.samples(second.port()))
                    .filteredOn(sample -> sample.name().equals("trace_etl_queue_lag_messages"))
                    .hasSize(QUEUES));
        first = EmbeddedInstallation.start(changed);
        first.awaitReady(Duration.ofSeconds(60));
        awaitQueuesOnEach(pages, first.httpPort(), second.port());
        send(first);
        await(pages, first.httpPort(), second.port());
        pages.restarted.clear();
      }
      send(first);
      await(pages, first.httpPort());
      assertThat(pages.restarted).as("queues between equal configurations").isEmpty();
    } finally {
      first.close();
    }
  }

  /** Adds up the series of all servers, also those that began again. */
  private static final class Pages {
    private final Map<String, Double> created = new HashMap<>();
    private final Map<String, Double> calls = new HashMap<>();
    private double ended;

    /** Queues of which a series began again. */
    private final Set<String> restarted = new HashSet<>();

    /** Reads a page; returns the queues whose series it has. */
    Set<String> look(int port) throws Exception {
      Set<String> queues = new HashSet<>();
      List<PageSample> page = PageSample.of(ServerHandOverTest.Observer.page(port));
      for (PageSample sample : page) {
        if (sample.name().equals(CREATED)) {
          String series = sample.series().replace(CREATED, CALLS);
          Double before = created.put(series, sample.value());
          if (before != null && before != sample.value()) {
            restarted.add(sample.labels().get("trace_etl_queue"));
            ended += calls.get(series);
          }
        }
      }
      for (PageSample sample : page) {
        if (sample.name().equals(CALLS)) {
          calls.put(sample.series(), sample.value());
          queues.add(sample.labels().get("trace_etl_queue"));
        }
      }
      return queues;
    }

    double sum() {
      return ended + calls.values().stream().mapToDouble(Double::doubleValue).sum();
    }
  }

  private void send(EmbeddedInstallation to) {
    for (String service : SERVICES) {
      Attributes attributes =
          service.equals(SHOP)
              ? Attributes.of(AttributeKey.stringKey("customer.tier"), "gold")
              : Attributes.empty();
      try (OtlpSpans spans = OtlpSpans.overGrpc(service, to.otlpGrpcPort())) {
        for (int i = 0; i < SPANS; i++) {
          spans.send("/" + i % 4, SpanKind.SERVER, StatusCode.OK, 10_000_000, attributes);
        }
        spans.flush();
      }
      sent += SPANS;
    }
  }

  private void await(Pages pages, int... ports) {
    EndToEndTest.eventually("every span once on pages and in each history")
        .untilAsserted(() -> {
          for (int port : ports) {
            pages.look(port);
          }
          assertThat(pages.sum()).isEqualTo(sent);
          for (int port : ports) {
            assertThat(history(port)).isEqualTo(sent);
          }
        });
  }

  private static void awaitQueuesOnEach(Pages pages, int... ports) {
    EndToEndTest.eventually("queues on each server")
        .untilAsserted(() -> {
          for (int port : ports) {
            pages.look(port);
            assertThat(EndToEndTest.samples(port))
                .anyMatch(sample -> sample.name().equals("trace_etl_queue_lag_messages"));
          }
        });
  }

  /** Returns the calls in a server's history. */
  private static long history(int port) throws Exception {
    long calls = 0;
    for (String service : SERVICES) {
      JsonNode history = EndToEndTest.json(port, "/api/history?application=" + service);
      for (JsonNode minute : history.path("minutes")) {
        calls += minute.path("calls").asLong();
      }
    }
    return calls;
  }
}
