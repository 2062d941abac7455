package org.traceetl.agent.telemetry;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.traceetl.agent.access.BearerTokens;
import org.traceetl.agent.config.TelemetryConfig;

/** Serves {@code /metrics} and {@code /health}. */
public final class TelemetryServer implements AutoCloseable {
  // A few scrapers and probes; a head is a line and a token.
  private static final int MAX_CONNECTIONS = 64;
  private static final int MAX_HEAD_BYTES = 32 * 1024;
  private static final int REQUEST_SECONDS = 10;

  private final HttpServer server;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

  private final BearerTokens tokens;
  private final Optional<TelemetryTls> tls;

  private TelemetryServer(HttpServer server, BearerTokens tokens, Optional<TelemetryTls> tls) {
    this.server = server;
    this.tokens = tokens;
    this.tls = tls;
  }

  /**
   * Bounds what its port may cost. The JDK has these for the whole JVM only, and reads them when
   * its server is first used: they are the program's to set. What was set by the operator stays.
   */
  public static void setBounds() {
    setIfAbsent("jdk.httpserver.maxConnections", MAX_CONNECTIONS);
    setIfAbsent("sun.net.httpserver.maxReqHeaderSize", MAX_HEAD_BYTES);
    setIfAbsent("sun.net.httpserver.maxReqTime", REQUEST_SECONDS);
  }

  private static void setIfAbsent(String key, int value) {
    if (System.getProperty(key) == null) {
      System.setProperty(key, Integer.toString(value));
    }
  }

  /**
   * Opens the port.
   *
   * @param problem what keeps the agent from its work, empty when nothing does
   * @throws IOException when the port, the certificate or the tokens cannot be had
   */
  public static TelemetryServer start(
      TelemetryConfig config, CollectorRegistry registry, Supplier<String> problem)
      throws IOException {
    BearerTokens tokens = new BearerTokens(config.tokens());
    Optional<TelemetryTls> tls =
        config.tls().isPresent()
            ? Optional.of(new TelemetryTls(config.tls().get(), InstantSource.system()))
            : Optional.empty();
    HttpServer http;
    try {
      http = listen(new InetSocketAddress(config.host(), config.port()), tls);
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
    TelemetryServer server = new TelemetryServer(http, tokens, tls);
    http.setExecutor(server.executor);
    http.createContext("/metrics", exchange -> server.metrics(exchange, registry));
    http.createContext("/health", exchange -> health(exchange, problem.get()));
    http.start();
    return server;
  }

  private static HttpServer listen(InetSocketAddress address, Optional<TelemetryTls> tls)
      throws IOException {
    if (tls.isEmpty()) {
      return HttpServer.create(address, 0);
    }
    HttpsServer server = HttpsServer.create(address, 0);
    server.setHttpsConfigurator(
        new HttpsConfigurator(tls.get().context()) {
          @Override
          public void configure(HttpsParameters parameters) {
            // The engine is set up already, by the files that its context is by.
          }
        });
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

  /**
   * Has connections to come use the certificate as the files have it now; those that are open are
   * not touched.
   *
   * @return true if it is another
   * @throws IOException when it would not serve; all stays as it was
   */
  public boolean reloadTls() throws IOException {
    return tls.isPresent() && tls.get().reload();
  }

  /** When the certificate of the port ends, seconds since 1970; 0 without TLS. */
  public long certificateEndSeconds() {
    return tls.map(certificate -> certificate.end().getEpochSecond()).orElse(0L);
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
