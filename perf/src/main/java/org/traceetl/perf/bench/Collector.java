package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;

/** The OpenTelemetry Collector with the span metrics connector, in one process. */
final class Collector implements Contender {
  /** The {@code metrics_flush_interval} of its configuration. */
  private static final Duration FLUSH = Duration.ofSeconds(15);

  private final int otlpPort;
  private final int pagePort;
  private final Program program;
  private long startNanos;

  /**
   * @param gogc Go's environment variable: heap growth, in percent, before the garbage collector
   *     runs
   */
  Collector(Path directory, Ports ports, Path binary, Path config, int gogc) throws IOException {
    otlpPort = ports.next();
    pagePort = ports.next();
    String name = "collector-" + gogc;
    program =
        new Program(
            name,
            List.of(binary.toAbsolutePath().toString(), "--config=" + config.toAbsolutePath()),
            Map.of(
                "GOGC", Integer.toString(gogc),
                "PORT_OTLP", Integer.toString(otlpPort),
                "PORT_PAGE", Integer.toString(pagePort)),
            directory.resolve(name + ".log"),
            page());
  }

  @Override
  public void start(HttpClient http) throws IOException, InterruptedException {
    startNanos = System.nanoTime();
    program.start();
    program.awaitReady(http, Duration.ofSeconds(30));
  }

  Program program() {
    return program;
  }

  @Override
  public int otlpPort() {
    return otlpPort;
  }

  @Override
  public URI page() {
    return URI.create("http://127.0.0.1:" + pagePort + "/metrics");
  }

  @Override
  public List<Program> programs() {
    return List.of(program);
  }

  @Override
  public void awaitTaken(long spans) {
    // The connector aggregates before it answers.
  }

  @Override
  public long millisToNextPage() {
    long sinceStart = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    return FLUSH.toMillis() - sinceStart % FLUSH.toMillis();
  }

  @Override
  public void close() {
    program.kill();
  }
}
