package org.traceetl.server.canary;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.traceetl.common.Reason;

/** The canary's port: {@code /metrics}, {@code /health} and {@code /ready}. */
final class CanaryPort implements AutoCloseable {
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int METHOD_NOT_ALLOWED = 405;
  private static final int UNAVAILABLE = 503;

  private final HttpServer http;

  /**
   * Opens the port.
   *
   * @param address null: all addresses
   * @throws IOException if it cannot be opened; the message is for the operator
   */
  CanaryPort(
      String address,
      int port,
      Supplier<String> metrics,
      BooleanSupplier healthy,
      BooleanSupplier ready)
      throws IOException {
    InetSocketAddress bound =
        address == null ? new InetSocketAddress(port) : new InetSocketAddress(address, port);
    try {
      http = HttpServer.create(bound, 0);
    } catch (IOException e) {
      throw new IOException(
          "--port = " + port + ": cannot be opened (" + Reason.of(e) + "); give a free port", e);
    }
    http.createContext(
        "/",
        exchange -> {
          switch (exchange.getRequestURI().getPath()) {
            case "/metrics" -> answer(exchange, OK, TextFormat.CONTENT_TYPE_004, metrics.get());
            case "/health" -> state(exchange, healthy.getAsBoolean());
            case "/ready" -> state(exchange, ready.getAsBoolean());
            default -> answer(exchange, NOT_FOUND, "text/plain", "not found\n");
          }
        });
    http.start();
  }

  private static void state(HttpExchange exchange, boolean isGood) throws IOException {
    answer(exchange, isGood ? OK : UNAVAILABLE, "text/plain", isGood ? "ok\n" : "not yet\n");
  }

  private static void answer(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    try (exchange) {
      boolean isGet = exchange.getRequestMethod().equals("GET");
      byte[] body = isGet ? text.getBytes(UTF_8) : new byte[0];
      exchange.getResponseHeaders().set("Content-Type", type);
      exchange.sendResponseHeaders(
          isGet ? status : METHOD_NOT_ALLOWED, body.length == 0 ? -1 : body.length);
      if (body.length > 0) {
        exchange.getResponseBody().write(body);
      }
    }
  }

  int port() {
    return http.getAddress().getPort();
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
