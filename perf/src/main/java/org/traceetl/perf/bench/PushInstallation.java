package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.traceetl.perf.bench.load.GrpcSender;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.Prometheus;

/**
 * Three servers with consumer groups of their own, which count the same spans: one pushes, one does
 * the same but pushes nothing, and one is scraped. So the first two make no pages. Two Prometheus
 * scrape the third one: one sends what it scrapes by its remote write, the other one does not.
 */
final class PushInstallation implements AutoCloseable {
  static final String OURS = "trace-etl";
  static final String THEIRS = "prometheus";

  private static final Duration START_LIMIT = Duration.ofMinutes(5);
  private static final int CONNECTIONS = 2;

  /** That of our endpoints by default. Theirs is lower, which costs more. */
  private static final int REQUEST_SAMPLES = 5_000;

  private static final String FAMILIES = "traces_span_metrics_(calls_total|.+_(bucket|sum|count))";

  private final Installed installed;
  private final Ports ports = new Ports();
  private final TraceEtl path;
  private final Program plainServer;
  private final Program scrapedServer;
  private final Pusher ours;
  private final Pusher theirs;

  /**
   * Chooses ports and writes configurations.
   *
   * @param version of Remote Write: {@code 1.0} or {@code 2.0}
   * @param pane also the interval of scrapes
   */
  PushInstallation(
      Path directory,
      Installed installed,
      String prometheus,
      String version,
      Duration pane,
      WriteReceiver receiver)
      throws IOException {
    this.installed = installed;
    final int scrapedPort = ports.next();
    path =
        new TraceEtl(
            directory,
            ports,
            installed,
            SpanStream.DIMENSIONS,
            pane,
            null,
            """
            metrics.queue-label: always
            push:
              instance: 127.0.0.1:%d
              endpoints: [{url: "%s", version: "%s"}]
            """
                .formatted(scrapedPort, receiver.address(OURS), version));
    plainServer = server(directory, "plain", ports.next());
    scrapedServer = server(directory, "scraped", scrapedPort);
    ours =
        new Pusher(
            OURS,
            path.server(),
            plainServer,
            receiver.accept(OURS),
            List.of("trace-push-", "push-", "HttpClient-"));
    theirs =
        new Pusher(
            THEIRS,
            prometheus(
                directory,
                prometheus,
                "pushing",
                scrape(scrapedPort, pane) + write(receiver.address(THEIRS), version)),
            prometheus(directory, prometheus, "plain", scrape(scrapedPort, pane)),
            receiver.accept(THEIRS),
            List.of());
  }

  private Program server(Path directory, String name, int port) throws IOException {
    return path.server(
        directory.resolve("server-" + name),
        port,
        """
        metrics.queue-label: always
        rocketmq.consumer-group: trace-etl-%1$s
        journal.topic: %2$s
        """
            .formatted(name, journal(name)));
  }

  private static String journal(String name) {
    return "trace-windows-" + name;
  }

  private Program prometheus(Path directory, String executable, String name, String yaml)
      throws IOException {
    Path home = directory.resolve("prometheus-" + name);
    return Prometheus.program(
        executable,
        "prometheus-" + name,
        home,
        directory.resolve("prometheus-" + name + ".log"),
        ports.next(),
        yaml);
  }

  private static String scrape(int port, Duration interval) {
    return """
    global: {scrape_interval: %1$dms, scrape_timeout: %1$dms}
    scrape_configs:
    - job_name: trace-etl
      static_configs: [{targets: ["127.0.0.1:%2$d"]}]
      metric_relabel_configs:
      - {source_labels: [__name__], regex: "%3$s", action: keep}
    """
        .formatted(interval.toMillis(), port, FAMILIES);
  }

  /** Without the series of the scrape itself. */
  private static String write(URI receiver, String version) {
    return """
    remote_write:
    - url: %s
    %s\
      write_relabel_configs:
      - {source_labels: [__name__], regex: "%s", action: keep}
      queue_config: {max_samples_per_send: %d, capacity: %d}
    """
        .formatted(
            receiver,
            version.equals("2.0") ? "  protobuf_message: io.prometheus.write.v2.Request\n" : "",
            FAMILIES,
            REQUEST_SAMPLES,
            REQUEST_SAMPLES * 4);
  }

  /** Starts all programs; they are ready when this method returns. */
  void start(HttpClient http) throws IOException, InterruptedException {
    path.start(http);
    for (String name : List.of("plain", "scraped")) {
      path.rocketMq().makeTopic(journal(name), installed.queues());
    }
    List<Program> more = List.of(plainServer, scrapedServer, theirs.plain(), theirs.pushing());
    for (Program program : more) {
      program.start();
    }
    for (Program program : more) {
      program.awaitReady(http, START_LIMIT);
    }
  }

  GrpcSender sender() {
    return new GrpcSender(path.otlpPort(), CONNECTIONS);
  }

  Pusher ours() {
    return ours;
  }

  Pusher theirs() {
    return theirs;
  }

  @Override
  public void close() {
    Program.kill(List.of(plainServer, scrapedServer, theirs.plain(), theirs.pushing()));
    path.close();
  }
}
