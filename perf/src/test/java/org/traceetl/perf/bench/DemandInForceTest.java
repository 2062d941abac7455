package org.traceetl.perf.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class DemandInForceTest {
  private static final String NONE = DemandInForce.VERSION + " 0.0\n";

  /** The agent's pages in turn. */
  private final Queue<String> pages = new ArrayDeque<>();

  private final HttpClient http = HttpClient.newHttpClient();
  private HttpServer agent;
  private URI metrics;

  @BeforeEach
  void serve() throws IOException {
    agent = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    agent.createContext("/metrics", this::answer);
    agent.start();
    metrics = URI.create("http://127.0.0.1:" + agent.getAddress().getPort() + "/metrics");
  }

  @AfterEach
  void stop() {
    http.close();
    agent.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] page = pages.remove().getBytes(UTF_8);
      exchange.sendResponseHeaders(200, page.length);
      exchange.getResponseBody().write(page);
    }
  }

  private void await(Duration limit) throws IOException, InterruptedException {
    DemandInForce.await(http, metrics, "agent.log", limit);
  }

  @Test
  void aDemandIsAwaited() throws Exception {
    pages.addAll(List.of(NONE, DemandInForce.VERSION + " 1.795e+12\n"));
    await(Duration.ofMinutes(1));
    assertThat(pages).isEmpty();
  }

  @Test
  void thePermissionOfBundlesIsAwaited() throws Exception {
    pages.addAll(
        List.of(DemandInForce.BUNDLES + " 0.0\n", NONE + DemandInForce.BUNDLES + " 1.0\n"));
    DemandInForce.awaitBundles(http, metrics, "agent.log");
    assertThat(pages).isEmpty();
  }

  @Test
  void aMissingDemandIsReportedWithTheLogs() {
    pages.add(NONE);
    assertThatThrownBy(() -> await(Duration.ZERO))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "the agent has no demand in force after 0 s: trace_etl_agent_demand_version of "
                + metrics
                + " is 0. A server publishes the demand in topic trace-routing; see agent.log");
  }

  @Test
  void anAgentWithoutTheMetricIsReportedAtOnce() {
    pages.add("trace_etl_agent_spans_published_total 1\n");
    assertThatThrownBy(() -> await(Duration.ofMinutes(1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has no trace_etl_agent_demand_version");
  }
}
