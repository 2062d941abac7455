package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.traceetl.perf.bench.Installed;
import org.traceetl.perf.bench.TraceEtl;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;

/** A host with an agent, RocketMQ and a server, each in its own process. */
final class Host implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final Duration WINDOW = Duration.ofSeconds(1);

  /** If no span arrives for this duration, none is under way: agents retry within 30 s. */
  private static final Duration SILENCE = Duration.ofSeconds(40);

  /** The time in which a killed server restores its counts. */
  private static final Duration RECOVERY = Duration.ofMinutes(3);

  private static final Duration LOOK = Duration.ofMillis(250);
  private static final String CALLS = "traces_span_metrics_calls_total";

  private final HttpClient http = HttpClient.newHttpClient();
  private final Path rings;
  private final TraceEtl programs;

  /**
   * Chooses ports and writes configurations.
   *
   * @param rings the directory of rings, on tmpfs
   */
  Host(Path directory, Path rings) throws IOException {
    this.rings = rings;
    programs = new TraceEtl(directory, new Ports(), new Installed(), List.of(), WINDOW, rings);
  }

  /** Starts all programs; they are ready when this method returns. */
  void start() throws IOException, InterruptedException {
    programs.start(http);
  }

  void startAgent() throws IOException, InterruptedException {
    programs.agent().start();
    programs.agent().awaitReady(http, START_LIMIT);
  }

  void killAgent() {
    programs.agent().kill();
  }

  /** Kills the server, the broker and the name server, as {@code kill -9} does. */
  void killServerAndBroker() {
    Program.kill(
        List.of(programs.server(), programs.rocketMq().broker(), programs.rocketMq().nameServer()));
  }

  /** Restarts the killed programs with their data. */
  void startServerAndBroker() throws IOException, InterruptedException {
    programs.rocketMq().nameServer().start();
    programs.rocketMq().broker().start();
    programs.server().start();
    programs.server().awaitReady(http, START_LIMIT);
  }

  /**
   * Returns the environment variables of an application that traces through the agent in this way.
   */
  Map<String, String> environment(Way way) {
    return way.environment(
        Integer.toString(programs.httpPort()), Integer.toString(programs.otlpPort()), rings);
  }

  /** Returns the spans of an application on the server's page. */
  private long calls(String application) throws IOException, InterruptedException {
    return (long)
        PageSample.of(http, programs.page()).stream()
            .filter(sample -> sample.name().equals(CALLS))
            .filter(sample -> application.equals(sample.labels().get("service_name")))
            .mapToDouble(PageSample::value)
            .sum();
  }

  /**
   * Waits until the page counts the expected spans of an application, or until no more arrive.
   *
   * @param before spans that it has already counted; a killed server restores this count
   */
  long awaitCalls(String application, long before, long expected)
      throws IOException, InterruptedException {
    long counted = calls(application);
    long changedNanos = System.nanoTime();
    while (counted < expected
        && System.nanoTime() - changedNanos < (counted < before ? RECOVERY : SILENCE).toNanos()) {
      Thread.sleep(LOOK);
      long now = calls(application);
      if (now != counted) {
        counted = now;
        changedNanos = System.nanoTime();
      }
    }
    if (counted < before) {
      throw new IOException(
          "the page counted %d spans of %s, and now %d".formatted(before, application, counted));
    }
    return counted;
  }

  @Override
  public void close() {
    programs.close();
    http.shutdownNow();
  }
}
