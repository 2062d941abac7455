package org.traceetl.agent.telemetry;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.traceetl.agent.access.BearerTokens;
import org.traceetl.agent.config.TelemetryConfig;

/** Serves {@code /metrics} and {@code /health}. */
public final class TelemetryServer implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

  private final BearerTokens tokens;

  private TelemetryServer(HttpServer server, BearerTokens tokens) {
    this.server = server;
    this.tokens = tokens;
  }

  /**
   * Opens the port.
   *
   * @param problem what keeps the agent from its work, empty when nothing does
   * @throws IOException when the port or the tokens cannot be had
   */
  public static TelemetryServer start(
      TelemetryConfig config, CollectorRegistry registry, Supplier<String> problem)
      throws IOException {
    BearerTokens tokens = new BearerTokens(config.tokens());
    HttpServer http;
    try {
      http = HttpServer.create(new InetSocketAddress(config.host(), config.port()), 0);
    } catch (IOException e) {
      throw new IOException(
          "telemetry.port = "
              + config.port()
              + ": cannot listen on "
              + config.host()
              + " ("
              + e.getMessage()
              + "): free the port or choose another",
          e);
    }
    TelemetryServer server = new TelemetryServer(http, tokens);
    http.setExecutor(server.executor);
    http.createContext("/metrics", exchange -> server.metrics(exchange, registry));
    http.createContext("/health", exchange -> health(exchange, problem.get()));
    http.start();
    return server;
  }

  private void metrics(HttpExchange exchange, CollectorRegistry registry) throws IOException {
    if (!tokens.admit(exchange.getRequestHeaders().getFirst("Authorization"))) {
      exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
      String text = BearerTokens.REFUSED + "\n";
      answer(exchange, 401, "text/plain; charset=utf-8", text.getBytes(UTF_8));
      return;
    }
    String type = TextFormat.chooseContentType(exchange.getRequestHeaders().getFirst("Accept"));
    ByteArrayOutputStream page = new ByteArrayOutputStream(8_192);
    try (OutputStreamWriter writer = new OutputStreamWriter(page, UTF_8)) {
      TextFormat.writeFormat(type, writer, registry.metricFamilySamples());
    }
    answer(exchange, 200, type, page.toByteArray());
  }

  private static void health(HttpExchange exchange, String problem) throws IOException {
    boolean well = problem.isEmpty();
    String text = (well ? "ok" : problem) + "\n";
    answer(exchange, well ? 200 : 503, "text/plain; charset=utf-8", text.getBytes(UTF_8));
  }

  private static void answer(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().set("Content-Type", type);
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  /**
   * Admits the tokens that the file has now, and no others.
   *
   * @return true if they are others
   * @throws IOException when there are none; all stays as it was
   */
  public boolean reloadTokens() throws IOException {
    return tokens.reload();
  }

  /** The port in use. */
  public int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    executor.close();
  }
}
