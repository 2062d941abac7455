package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.TraceEtlServer;

/** Tests that no counter decreases and the sum is exact while servers start and stop under load. */
final class ServerHandOverTest {
  private static final int QUEUES = 8;

  /** Each service uses two queues; together they use all. */
  private static final int SERVICES = 16;

  private static final int OPERATIONS = 5;
  private static final int SERIES = SERVICES * OPERATIONS;
  private static final String CALLS = "traces_span_metrics_calls_total{";
  private static final String CREATED = "traces_span_metrics_calls_created{";

  @TempDir private Path directory;

  @Test
  void queuesMoveWithTheirCounters() throws Exception {
    EmbeddedInstallation.Settings settings = settings();
    Observer observer = new Observer();
    AtomicInteger sent = new AtomicInteger();
    AtomicBoolean enough = new AtomicBoolean();
    try (EmbeddedInstallation first = EmbeddedInstallation.start(settings)) {
      first.awaitReady(Duration.ofSeconds(60));
      observer.add(first.httpPort());
      Thread load = Thread.ofPlatform().start(() -> load(first.otlpGrpcPort(), sent, enough));
      try {
        fromOneToTwoAndBack(settings, observer);
      } finally {
        enough.set(true);
        load.join();
      }
      eventually(observer, "every span", () -> assertThat(observer.sum()).isEqualTo(sent.get()));
      assertThat(observer.shownBy(first.httpPort())).isEqualTo(SERIES);
    }

    // The last server has stopped as well; the next one continues.
    try (EmbeddedInstallation next = EmbeddedInstallation.start(settings)) {
      observer.clear();
      observer.add(next.httpPort());
      eventually(observer, "all of it", () -> assertThat(observer.sum()).isEqualTo(sent.get()));
    }
    assertThat(observer.setbacks).isEmpty();
  }

  private static void fromOneToTwoAndBack(
      EmbeddedInstallation.Settings settings, Observer observer) {
    eventually(observer, "the first counts", () -> assertThat(observer.sum()).isPositive());
    try (TraceEtlServer second = TraceEtlServer.start(SharedBroker.furtherServer(settings))) {
      observer.add(second.port());
      eventually(
          observer,
          "series on both",
          () -> assertThat(observer.shownBy(second.port())).isBetween(1, SERIES - 1));
      observer.remove(second.port());
    }
  }

  private EmbeddedInstallation.Settings settings() throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    return SharedBroker.settings(
        topic, directory, Map.of("trace-etl.rocketmq.workers", 1, "trace-etl.index.type", "none"));
  }

  private static void load(int port, AtomicInteger sent, AtomicBoolean enough) {
    List<OtlpSpans> services = new ArrayList<>();
    try {
      for (int service = 0; service < SERVICES; service++) {
        services.add(OtlpSpans.overGrpc("service-" + service, port));
      }
      while (!enough.get()) {
        for (OtlpSpans spans : services) {
          for (int i = 0; i < OPERATIONS; i++) {
            spans.send("operation" + i, SpanKind.SERVER, StatusCode.OK, 5_000_000);
          }
          spans.flush();
          sent.addAndGet(OPERATIONS);
        }
      }
    } finally {
      services.forEach(OtlpSpans::close);
    }
  }

  private static void eventually(Observer observer, String what, AssertionCheck check) {
    EndToEndTest.eventually(what)
        .untilAsserted(() -> {
          observer.look();
          check.check();
        });
  }

  private interface AssertionCheck {
    void check();
  }

  /** Scrapes servers in turn, and records each counter that decreases or restarts. */
  static final class Observer {
    private final List<Integer> ports = new ArrayList<>();
    private final Map<String, Long> values = new HashMap<>();
    private final Map<String, String> created = new HashMap<>();
    private final Map<Integer, Integer> shown = new HashMap<>();
    final List<String> setbacks = new ArrayList<>();

    void add(int port) {
      ports.add(port);
    }

    void remove(int port) {
      ports.remove((Integer) port);
    }

    /** Removes all servers, and keeps the counters seen. */
    void clear() {
      ports.clear();
      shown.clear();
    }

    void look() throws IOException {
      for (int port : ports) {
        String page = page(port);
        shown.put(port, (int) page.lines().filter(line -> line.startsWith(CALLS)).count());
        page.lines().forEach(this::note);
      }
    }

    private void note(String line) {
      String value = line.substring(line.lastIndexOf(' ') + 1);
      if (line.startsWith(CALLS)) {
        long calls = Long.parseLong(value);
        Long before = values.put(line.substring(0, line.lastIndexOf(' ')), calls);
        if (before != null && calls < before) {
          setbacks.add(line + " after " + before);
        }
      } else if (line.startsWith(CREATED)) {
        String before = created.put(line.substring(0, line.lastIndexOf(' ')), value);
        if (before != null && !before.equals(value)) {
          setbacks.add(line + " after " + before);
        }
      }
    }

    long sum() {
      return sum("");
    }

    /** Returns the calls of all series whose line contains this text. */
    long sum(String text) {
      return values.entrySet().stream()
          .filter(series -> series.getKey().contains(text))
          .mapToLong(Map.Entry::getValue)
          .sum();
    }

    int shownBy(int port) {
      return shown.getOrDefault(port, 0);
    }

    static String page(int port) throws IOException {
      HttpURLConnection page =
          (HttpURLConnection)
              URI.create("http://127.0.0.1:" + port + "/metrics").toURL().openConnection();
      page.setRequestProperty("Accept", "application/openmetrics-text");
      try (InputStream in = page.getInputStream()) {
        return new String(in.readAllBytes(), UTF_8);
      }
    }
  }
}
