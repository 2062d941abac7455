package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;

/**
 * The OpenTelemetry Collector with the span metrics connector, and the service graph connector if
 * its configuration has it, in one process.
 */
final class Collector implements Contender {
  /** The {@code metrics_flush_interval} of its configuration. */
  private static final Duration FLUSH = Duration.ofSeconds(15);

  private final int otlpPort;
  private final int pagePort;
  private final Program program;
  private long startNanos;

  /**
   * @param configurations a later one adds to the earlier ones
   * @param gogc Go's environment variable: heap growth, in percent, before the garbage collector
   *     runs
   * @param more variables of the configurations
   */
  Collector(
      Path directory,
      Ports ports,
      String name,
      Path binary,
      List<Path> configurations,
      int gogc,
      Map<String, String> more)
      throws IOException {
    otlpPort = ports.next();
    pagePort = ports.next();
    List<String> command = new ArrayList<>(List.of(binary.toAbsolutePath().toString()));
    configurations.forEach(file -> command.add("--config=" + file.toAbsolutePath()));
    Map<String, String> environment = new TreeMap<>(more);
    environment.put("GOGC", Integer.toString(gogc));
    environment.put("PORT_OTLP", Integer.toString(otlpPort));
    environment.put("PORT_PAGE", Integer.toString(pagePort));
    program = new Program(name, command, environment, directory.resolve(name + ".log"), page());
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
