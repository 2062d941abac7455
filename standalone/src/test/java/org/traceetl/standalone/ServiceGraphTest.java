package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Prometheus;

/**
 * Tests that every request between two real SDKs is one edge, although a server is killed that has
 * half-edges of requests whose other end comes later. All are on pages, in the last hour's graph,
 * and in a real Prometheus to which edges are pushed.
 */
final class ServiceGraphTest {
  private static final int QUEUES = 2;
  private static final int EDGE_QUEUES = 4;

  private static final int AT_ONCE = 20;

  /** Requests of {@link #AT_ONCE} that fail. */
  private static final int FAILED = 4;

  /** Of all requests: only spans of their servers have a route. */
  private static final String LABELS = "{server_http_route=\"/stock\", client_http_route=\"\"}";

  /** Prefix of the metrics of the service graph. */
  static final String GRAPH = "traces_service_graph_";

  @TempDir private Path directory;

  @Test
  void everyRequestIsOneEdgeAlthoughAServerIsKilled() throws Exception {
    AtomicInteger sent = new AtomicInteger();
    AtomicBoolean enough = new AtomicBoolean();
    try (Prometheus prometheus =
        Prometheus.startReceiver(directory.resolve("prometheus"), Duration.ofHours(6))) {
      everyRequestIsOneEdge(prometheus, sent, enough);
    }
  }

  private void everyRequestIsOneEdge(
      Prometheus prometheus, AtomicInteger sent, AtomicBoolean enough) throws Exception {
    EmbeddedInstallation.Settings settings =
        settings(
            directory,
            Map.of(
                "trace-etl.window.grace",
                "1s",
                "trace-etl.edges.dimensions[0]",
                "http.route",
                "trace-etl.push.endpoints[0].url",
                prometheus.writeUri().toString()));
    try (EmbeddedInstallation first = EmbeddedInstallation.start(settings);
        ServerProcess second =
            ServerProcess.start(
                directory.resolve("second"), SharedBroker.furtherServer(settings))) {
      awaitQueues(first);
      Thread load = Thread.ofPlatform().start(() -> load(first.otlpGrpcPort(), sent, enough));
      try {
        EndToEndTest.eventually("edges on both servers")
            .until(() -> edges(first.httpPort()) > 0 && edges(second.uri("").getPort()) > 0);
        second.kill();
        int atKill = sent.get();
        EndToEndTest.eventually("the queues of the killed server")
            .until(() -> edges(first.httpPort()) > atKill);
      } finally {
        enough.set(true);
        load.join();
      }

      Map<String, Double> expected =
          Map.of(
              "request_total", (double) sent.get(),
              "request_failed_total", (double) (sent.get() / AT_ONCE * FAILED),
              "request_server_seconds_count", (double) sent.get(),
              "request_client_seconds_count", (double) sent.get(),
              "request_latency_seconds_count", (double) sent.get());
      EndToEndTest.eventually("every request")
          .untilAsserted(() -> assertThat(graph(first.httpPort())).isEqualTo(expected));
      EndToEndTest.eventually("every request in the receiver of push")
          .untilAsserted(() ->
              assertThat(prometheus.value("sum(" + GRAPH + "request_total" + LABELS + ")"))
                  .isEqualTo(sent.get()));
      EndToEndTest.eventually("every request in the complete minutes")
          .untilAsserted(() ->
              assertThat(lastHour(first.httpPort()))
                  .startsWith("[{\"client\":\"shop\",\"server\":\"stock\",\"connection\":null,")
                  .contains("\"calls\":" + sent.get() + ","));
      try (ServerProcess third =
          ServerProcess.start(directory.resolve("third"), SharedBroker.furtherServer(settings))) {
        EndToEndTest.eventually("the same answer of a server that has just started")
            .untilAsserted(() ->
                assertThat(lastHour(third.uri("").getPort()))
                    .isEqualTo(lastHour(first.httpPort())));
      }
    }
  }

  /**
   * Returns settings of an installation with half-edges, on topics of its own.
   *
   * @param more properties of its server
   */
  static EmbeddedInstallation.Settings settings(Path directory, Map<String, Object> more)
      throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    String edges = "edges-of-" + topic;
    String journal = "journal-of-edges-of-" + topic;
    SharedBroker.get().createTopic(edges, EDGE_QUEUES);
    SharedBroker.get().createTopic(journal, EDGE_QUEUES);
    properties.put("trace-etl.edges.enabled", true);
    properties.put("trace-etl.edges.topic", edges);
    properties.put("trace-etl.edges.journal-topic", journal);
    properties.put("trace-etl.journal.lease", "2s");
    properties.putAll(more);
    return SharedBroker.settings(topic, directory, properties);
  }

  /** Waits until the agent accepts spans, and sends half-edges. */
  static void awaitQueues(EmbeddedInstallation installation)
      throws IOException, InterruptedException {
    installation.awaitReady(Duration.ofSeconds(60));
    EndToEndTest.eventually("the list of queues for half-edges")
        .until(() ->
            PageSample.sum(
                    EndToEndTest.samples(installation.agentTelemetryPort()),
                    "trace_etl_agent_edge_queues_epoch")
                > 0);
  }

  /** The spans of a request's server are sent with the next requests. */
  private static void load(int port, AtomicInteger sent, AtomicBoolean enough) {
    try (OtlpSpans shop = OtlpSpans.overGrpc("shop", port);
        OtlpSpans stock = OtlpSpans.overGrpc("stock", port)) {
      List<Span> answers = List.of();
      while (!enough.get() || !answers.isEmpty()) {
        List<Span> calls = enough.get() ? List.of() : calls(shop);
        shop.flush();
        answers.forEach(Span::end);
        stock.flush();
        answers =
            calls.stream()
                .map(call -> stock.start("answer", SpanKind.SERVER, Context.root().with(call)))
                .toList();
        answers.forEach(answer -> answer.setAttribute("http.route", "/stock"));
        answers.stream().limit(FAILED).forEach(answer -> answer.setStatus(StatusCode.ERROR));
        sent.addAndGet(calls.size());
      }
    }
  }

  private static List<Span> calls(OtlpSpans from) {
    List<Span> calls =
        Stream.generate(() -> from.start("call", SpanKind.CLIENT, Context.root()))
            .limit(AT_ONCE)
            .toList();
    calls.forEach(Span::end);
    return calls;
  }

  /** Returns the edges of the complete minutes. */
  private static String lastHour(int port) throws Exception {
    return EndToEndTest.json(port, "/api/services?minutes=59").get("edges").toString();
  }

  private static double edges(int port) throws Exception {
    return PageSample.sum(EndToEndTest.samples(port), GRAPH + "request_total");
  }

  /**
   * Returns the sums of all queues by sample, without the prefix; buckets and sums are left out.
   */
  private static Map<String, Double> graph(int port) throws Exception {
    List<PageSample> samples = EndToEndTest.samples(port);
    Map<String, Double> sums = new TreeMap<>();
    for (PageSample sample : samples) {
      String name = sample.name();
      if (name.startsWith(GRAPH) && !name.endsWith("_bucket") && !name.endsWith("_sum")) {
        sums.merge(name.substring(GRAPH.length()), sample.value(), Double::sum);
      }
    }
    return sums;
  }
}
