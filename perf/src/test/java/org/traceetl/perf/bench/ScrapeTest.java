package org.traceetl.perf.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ScrapeTest {
  /** As either contender writes it. */
  private static final String PAGE =
      """
      # TYPE traces_span_metrics_calls counter
      traces_span_metrics_calls_total{service_name="probe",span_name="GET /{id}"} 3.0
      traces_span_metrics_calls_total{job="cart",service_name="cart",span_name="} 7"} 1.2e+06
      traces_span_metrics_calls_created{service_name="cart"} 1.79E9
      # TYPE traces_span_metrics_duration_milliseconds histogram
      traces_span_metrics_duration_milliseconds_bucket{service_name="cart",le="2.0"} 9 # {trace_id="00"} 1.5
      # TYPE traces_service_graph_request counter
      traces_service_graph_request_total{client="cart",failed="true",server="} 9"} 2
      traces_service_graph_request_total{client="cart",server="mail"} 5.0
      traces_service_graph_request_failed_total{client="cart",server="mail"} 4.0
      # EOF
      """;

  private HttpServer server;

  @BeforeEach
  void serve() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/metrics", ScrapeTest::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private static void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      boolean gzip = "gzip".equals(exchange.getRequestHeaders().getFirst("Accept-Encoding"));
      if (gzip) {
        exchange.getResponseHeaders().add("Content-Encoding", "gzip");
      }
      exchange.sendResponseHeaders(200, 0);
      OutputStream body = exchange.getResponseBody();
      try (OutputStream out = gzip ? new GZIPOutputStream(body) : body) {
        // More than one buffer, with a line across its end.
        out.write(("# " + "x".repeat((1 << 18) - 100) + "\n").getBytes(UTF_8));
        out.write(PAGE.getBytes(UTF_8));
      }
    }
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
  }

  @Test
  void callsAreSummedAndThoseOfTheProbeSeparately() throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      Scrape page = Scrape.of(http, uri("/metrics"));
      assertThat(page.calls()).isEqualTo(1_200_003);
      assertThat(page.probes()).isEqualTo(3);
      assertThat(page.series()).isEqualTo(2);
      assertThat(page.samples()).isEqualTo(7);
      assertThat(page.bytes()).isLessThan(10_000);
    }
  }

  @Test
  void requestsOfTheServiceGraphAreSummed() throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      assertThat(Scrape.of(http, uri("/metrics")).requests()).isEqualTo(7);
    }
  }

  @Test
  void pageReadWithoutParsingIsCountedInBytes() throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      Scrape page = Scrape.taken(http, uri("/metrics"), false);
      assertThat(page.bytes()).isEqualTo((1 << 18) - 97 + PAGE.length());
      assertThat(page.samples()).isZero();
    }
  }

  @Test
  void missingPageIsAFailure() {
    try (HttpClient http = HttpClient.newHttpClient()) {
      assertThatThrownBy(() -> Scrape.of(http, uri("/nothing")))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("404");
    }
  }
}
