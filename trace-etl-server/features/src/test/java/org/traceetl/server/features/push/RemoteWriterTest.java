package org.traceetl.server.features.push;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/** Samples of a program to a receiver that is away, and that refuses. */
class RemoteWriterTest {
  private static final SpanNaming NAMING =
      new SpanNaming(
          MetricsConfig.defaults(), SeriesConfig.defaults(), new HistogramConfig(List.of(2.5)));

  /** Calls, two buckets, count and sum. */
  private static final int SAMPLES = 5;

  private final AtomicInteger requests = new AtomicInteger();
  private HttpServer server;

  /** The answer after the first one, which is 503. */
  private volatile int status = 204;

  private volatile String text = "";

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/write",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          boolean isFirst = requests.getAndIncrement() == 0;
          byte[] body = text.getBytes(UTF_8);
          exchange.sendResponseHeaders(isFirst ? 503 : status, body.length == 0 ? -1 : body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private RemoteWriter writer() {
    URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/write");
    return new RemoteWriter(
        PushConfig.defaults(), PushConfig.Endpoint.at(url), NAMING, Clocks.SYSTEM);
  }

  private static void sample(RemoteWriter writer, long atMillis) throws Exception {
    SeriesDefinition series =
        new SeriesDefinition(0, 1_000, true, List.of("shop", "GET /", "2", "0"));
    writer.sample(series, 1_000, atMillis, new long[] {1, 2}, 3, 4, new NativeTotals());
  }

  @Test
  void samplesAreRepeatedUntilTheyAreAnswered() throws Exception {
    try (RemoteWriter writer = writer()) {
      for (int i = 1; i <= 10_000; i++) {
        sample(writer, 1_000 + i);
      }
      writer.flush();
      assertThat(writer.written()).isEqualTo(10_000 * SAMPLES);
      assertThat(writer.refused().values()).containsOnly(0L);
      sample(writer, 100_000);
      writer.flush();
      assertThat(writer.written()).isEqualTo(10_001 * SAMPLES);
    }
  }

  @Test
  void refusedSamplesAreCounted() throws Exception {
    status = 400;
    text = "out of bounds";
    try (RemoteWriter writer = writer()) {
      sample(writer, 1_000);
      writer.flush();
      assertThat(writer.written()).isZero();
      assertThat(writer.refused()).containsEntry("out_of_bounds", (long) SAMPLES);
    }
  }
}
