package org.traceetl.agent.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.access.TokenSource;
import org.traceetl.agent.config.TelemetryConfig;
import org.traceetl.common.Clocks;

final class TelemetryServerTest {
  private static final TelemetryConfig ANY_PORT = new TelemetryConfig(true, "127.0.0.1", 0);

  private final AgentMetrics metrics = new AgentMetrics();
  private final AtomicReference<String> problem = new AtomicReference<>("");

  @BeforeEach
  void addMetric() {
    metrics.gauge("spans", "Spans.", () -> 3);
  }

  @Test
  void metricsAreServedInTheRequestedFormat() throws Exception {
    try (TelemetryServer server = start()) {
      HttpResponse<String> text = get(server, "/metrics", "text/plain");
      HttpResponse<String> open = get(server, "/metrics", "application/openmetrics-text");

      assertThat(text.headers().firstValue("Content-Type")).get().asString().contains("0.0.4");
      assertThat(text.body()).contains("trace_etl_agent_spans 3.0\n");
      assertThat(open.headers().firstValue("Content-Type"))
          .get()
          .asString()
          .startsWith("application/openmetrics-text");
      assertThat(open.body()).endsWith("# EOF\n");
    }
  }

  @Test
  void problemMakesTheAgentUnhealthy() throws Exception {
    try (TelemetryServer server = start()) {
      assertThat(get(server, "/health", "*/*").statusCode()).isEqualTo(200);
      problem.set("the broker is away");
      HttpResponse<String> answer = get(server, "/health", "*/*");

      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).isEqualTo("the broker is away\n");
      // The agent must keep running.
      assertThat(get(server, "/live", "*/*").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void usedPortIsNamed() throws Exception {
    try (TelemetryServer server = start()) {
      TelemetryConfig same = new TelemetryConfig(true, "127.0.0.1", server.port());

      assertThatThrownBy(() ->
              TelemetryServer.start(same, metrics.registry, problem::get, Clocks.SYSTEM.wall()))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("telemetry.port = " + server.port() + ": cannot listen");
    }
  }

  @Test
  void metricsRequireTheTokenAndHealthDoesNot() throws Exception {
    TelemetryConfig config = ANY_PORT.withTokens(new TokenSource("hunter2", Optional.empty()));
    try (TelemetryServer server =
            TelemetryServer.start(config, metrics.registry, problem::get, Clocks.SYSTEM.wall());
        HttpClient client = HttpClient.newHttpClient()) {
      assertThat(get(server, "/health", "*/*").statusCode()).isEqualTo(200);
      HttpResponse<String> refused = get(server, "/metrics", "*/*");
      assertThat(refused.statusCode()).isEqualTo(401);
      assertThat(refused.headers().firstValue("WWW-Authenticate")).contains("Bearer");
      assertThat(refused.body()).contains("bearer token").doesNotContain("trace_etl");

      HttpRequest known =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/metrics"))
              .header("Authorization", "Bearer hunter2")
              .build();
      assertThat(client.send(known, HttpResponse.BodyHandlers.ofString()).body())
          .contains("trace_etl_agent_");
    }
  }

  private TelemetryServer start() throws IOException {
    return TelemetryServer.start(ANY_PORT, metrics.registry, problem::get, Clocks.SYSTEM.wall());
  }

  private static HttpResponse<String> get(TelemetryServer server, String path, String accept)
      throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(uri).header("Accept", accept).build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }
}
