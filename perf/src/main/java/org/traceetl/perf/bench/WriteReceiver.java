package org.traceetl.perf.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Receives Remote Write of both versions, and only counts. Each sender has an address. */
final class WriteReceiver implements AutoCloseable {
  private static final int THREADS = 4;
  private static final int WRITTEN = 204;
  private static final int MALFORMED = 400;
  private static final int AWAY = 503;
  private static final int NO_BODY = -1;
  private static final String WRITTEN_HEADER = "X-Prometheus-Remote-Write-%s-Written";

  private final HttpServer http;
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
  private volatile boolean away;

  /** Starts a receiver that knows no sender. */
  WriteReceiver() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(threads);
    http.start();
  }

  /** Returns the address of a sender. */
  URI address(String sender) {
    return URI.create("http://127.0.0.1:" + http.getAddress().getPort() + "/" + sender);
  }

  /** Accepts the requests of a sender, and returns what it writes from now on. */
  Written accept(String sender) {
    Written written = new Written();
    http.createContext("/" + sender, exchange -> answer(exchange, written));
    return written;
  }

  /** Lets it answer 503, or write again. */
  void away(boolean isAway) {
    away = isAway;
  }

  private void answer(HttpExchange exchange, Written written) throws IOException {
    try (exchange;
        InputStream in = exchange.getRequestBody()) {
      byte[] body = in.readAllBytes();
      if (away) {
        exchange.sendResponseHeaders(AWAY, NO_BODY);
        return;
      }
      String type = exchange.getRequestHeaders().getFirst("Content-Type");
      int samples;
      try {
        samples = written.add(body, type.contains("io.prometheus.write.v2"));
      } catch (IOException | RuntimeException e) {
        System.err.println("The receiver refuses a request: " + e);
        exchange.sendResponseHeaders(MALFORMED, NO_BODY);
        return;
      }
      var headers = exchange.getResponseHeaders();
      headers.set(WRITTEN_HEADER.formatted("Samples"), Integer.toString(samples));
      headers.set(WRITTEN_HEADER.formatted("Histograms"), "0");
      headers.set(WRITTEN_HEADER.formatted("Exemplars"), "0");
      exchange.sendResponseHeaders(WRITTEN, NO_BODY);
    }
  }

  @Override
  public void close() {
    http.stop(0);
    threads.shutdownNow();
  }
}
