package org.traceetl.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.Prometheus;

/** Two jobs in a real Prometheus, one of which restarts and loses spans. */
class CompareWithPrometheusTest {
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final int STEADY_SECONDS = 6;
  private static final String COUNTER = "traces_span_metrics_calls_total";

  @TempDir private Path directory;

  /** A page with a counter; null: the program is down. */
  private static final class Page implements AutoCloseable {
    private final HttpServer server;
    private volatile Long count = 0L;

    Page() throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext(
          "/metrics",
          exchange -> {
            Long value = count;
            byte[] page =
                (COUNTER + "{service_name=\"shop\",span_name=\"GET /\"} " + value + "\n")
                    .getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4");
            exchange.sendResponseHeaders(value == null ? 503 : 200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
          });
      server.start();
    }

    int port() {
      return server.getAddress().getPort();
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }

  @Test
  void theLossOfARestartIsFoundToTheSpan() throws Exception {
    try (Page collector = new Page();
        Page ours = new Page();
        Prometheus prometheus =
            Prometheus.startWithRules(
                directory,
                Map.of("collector", collector.port(), "trace-etl", ours.port()),
                List.of(),
                false)) {
      awaitValues(prometheus, 0, 0);
      collector.count = 100L;
      ours.count = 100L;
      awaitValues(prometheus, 100, 100);
      collector.count = null;
      ours.count = 130L;
      awaitValue(prometheus, "trace-etl", 130);
      // Of the 50 spans since the last scrape 7 were lost with the old process.
      collector.count = 43L;
      ours.count = 150L;
      awaitValues(prometheus, 43, 150);

      String url = prometheus.writeUri().resolve("/").toString();
      Path html = directory.resolve("report.html");
      StringWriter out = new StringWriter();
      await()
          .atMost(LIMIT)
          .untilAsserted(() -> {
            out.getBuffer().setLength(0);
            assertThat(compare(out, url, html)).as(out.toString()).isEqualTo(1);
            assertThat(out.toString()).contains("left lacks 7 spans and the right 0");
          });

      assertThat(out.toString())
          .contains("(reset 1)", "reset (left restarted) {service_name=\"shop\", ")
          .containsPattern("left +143 spans in 1 series")
          .containsPattern("right +150 spans in 1 series");
      assertThat(Files.readString(html)).contains("left lacks 7 spans", "class=\"reset\"");
    }
  }

  private static int compare(StringWriter out, String url, Path html) {
    return TraceEtlServer.run(
        new PrintWriter(out, true),
        new PrintWriter(out, true),
        "compare",
        "--left",
        url,
        "--left-selector",
        "job=\"collector\"",
        "--right",
        url,
        "--right-selector",
        "job=\"trace-etl\"",
        "--range",
        "5m",
        "--pane",
        "1s",
        "--settle",
        "3s",
        "--html",
        html.toString());
  }

  private static void awaitValues(Prometheus prometheus, double collector, double ours) {
    awaitValue(prometheus, "collector", collector);
    awaitValue(prometheus, "trace-etl", ours);
  }

  /** Waits until the counter has had the value longer than a side may be late. */
  private static void awaitValue(Prometheus prometheus, String job, double value) {
    String steady =
        "count_over_time((" + COUNTER + "{job=\"" + job + "\"} == " + value + ")[1m:1s])";
    await()
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(() -> prometheus.value(steady) >= STEADY_SECONDS);
  }
}
