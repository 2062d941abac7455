package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.testkit.Programs;
import org.traceetl.testkit.Prometheus;

/**
 * Tests the path from rings of Java and Python applications through the agent, a real RocketMQ and
 * the server into a real Prometheus. Counts must be exact, even after kills.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class RingEndToEndTest {
  private static final int QUEUES = 2;
  private static final int SPANS_BEFORE_KILL = 2_000;

  @TempDir private static Path directory;
  private Path rings;
  private EmbeddedInstallation installation;
  private Prometheus prometheus;

  @BeforeAll
  void start() throws Exception {
    String topic = SharedBroker.newTopic(QUEUES);
    EmbeddedInstallation.Settings settings = SharedBroker.settings(topic, directory, Map.of());
    rings = settings.ringDirectory();
    installation = EmbeddedInstallation.start(settings);
    installation.awaitReady(Duration.ofSeconds(60));
    // An application that starts before the directory exists would send OTLP.
    await("the rings' directory")
        .atMost(Duration.ofSeconds(60))
        .until(() -> Files.isDirectory(rings));
    prometheus =
        Prometheus.start(
            directory.resolve("prometheus"), installation.httpPort(), Duration.ofSeconds(1));
  }

  @AfterAll
  void stop() throws IOException {
    if (prometheus != null) {
      prometheus.close();
    }
    if (installation != null) {
      installation.close();
    }
  }

  @Test
  void prometheusReturnsTheSpansOfAJavaApplication() throws Exception {
    Path input = Files.createFile(directory.resolve("nothing"));

    runToItsEnd(java("ring-java", "expected"), input);

    assertCounted("ring-java");
  }

  /** Tests OpenTelemetry's SDK, and the provider that writes spans itself. */
  @ParameterizedTest
  @ValueSource(strings = {"sdk", "own"})
  void prometheusReturnsTheSpansOfAPythonApplication(String provider) throws Exception {
    String service = "ring-python-" + provider;
    Path input = Files.write(directory.resolve(service + ".json"), OtlpSpans.expectedAsJson());

    runToItsEnd(python(service, provider, "expected"), input);

    assertCounted(service);
  }

  @Test
  void spansOfAKilledJavaApplicationCount() throws Exception {
    Path ended = countsOf("ring-java-killed", RingProgram.THREADS);
    killed(java("ring-java-killed", "endless", ended.toString()), ended);

    assertCountedOnce("ring-java-killed", ended);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sdk", "own"})
  void spansOfAKilledPythonApplicationCount(String provider) throws Exception {
    String service = "ring-python-killed-" + provider;
    Path ended = countsOf(service, 1);
    killed(python(service, provider, "endless", ended.toString()), ended);

    assertCountedOnce(service, ended);
  }

  private ProcessBuilder java(String service, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                RingProgram.class.getName()));
    command.addAll(List.of(arguments));
    return application(service, command);
  }

  private ProcessBuilder python(String service, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Programs.python(),
                Path.of(System.getProperty("basedir", "."), "src/test/python/ring_spans.py")
                    .toString()));
    command.addAll(List.of(arguments));
    return application(service, command);
  }

  /**
   * Returns the application; its OTLP address has no listener, so all counts come from its ring.
   */
  private ProcessBuilder application(String service, List<String> command) {
    ProcessBuilder application =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(service + ".log").toFile());
    application
        .environment()
        .putAll(
            Map.of(
                "OTEL_SERVICE_NAME", service,
                "OTEL_TRACES_EXPORTER", "trace-etl",
                "OTEL_METRICS_EXPORTER", "none",
                "OTEL_LOGS_EXPORTER", "none",
                "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9",
                "OTEL_EXPORTER_TRACE_ETL_DIRECTORY", rings.toString()));
    return application;
  }

  private static void runToItsEnd(ProcessBuilder application, Path input) throws Exception {
    Process process = application.redirectInput(input.toFile()).start();
    try {
      await("the end of the application")
          .atMost(Duration.ofMinutes(1))
          .until(() -> !process.isAlive());
      assertThat(process.exitValue()).as(log(application)).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  /** Kills the application by SIGKILL during its work. */
  private static void killed(ProcessBuilder application, Path ended) throws Exception {
    Process process = application.start();
    try {
      await("spans of the application")
          .atMost(Duration.ofMinutes(1))
          .until(() -> !process.isAlive() || sum(ended) >= SPANS_BEFORE_KILL);
      assertThat(process.isAlive()).as(log(application)).isTrue();
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  private static String log(ProcessBuilder application) throws IOException {
    return Files.readString(application.redirectOutput().file().toPath());
  }

  /** Creates a file for each thread's number of ended spans. */
  private static Path countsOf(String service, int threads) throws IOException {
    return Files.write(directory.resolve(service + ".ended"), new byte[threads * Long.BYTES]);
  }

  private static long sum(Path ended) throws IOException {
    ByteBuffer counts = ByteBuffer.wrap(Files.readAllBytes(ended)).order(ByteOrder.LITTLE_ENDIAN);
    long sum = 0;
    while (counts.hasRemaining()) {
      sum += counts.getLong();
    }
    return sum;
  }

  private void assertCounted(String service) {
    EndToEndTest.eventually("the spans of " + service)
        .untilAsserted(() -> Expected.assertIn(prometheus, service, 1));
    EndToEndTest.eventually("the end of its ring").until(this::noRingIsLeft);
  }

  /** Asserts exact counts; each thread may have ended one more span than it has counted. */
  private void assertCountedOnce(String service, Path ended) throws Exception {
    long said = sum(ended);
    long threads = Files.size(ended) / Long.BYTES;
    // The ring is removed when its spans are on the agent's disk.
    EndToEndTest.eventually("the end of its ring").until(this::noRingIsLeft);
    String calls = "sum(traces_span_metrics_calls_total{service_name=\"" + service + "\"})";
    EndToEndTest.eventually("the spans of " + service)
        .untilAsserted(() ->
            assertThat(prometheus.value(calls)).isBetween((double) said, (double) said + threads));
    String received = "sum(trace_etl_spans_received_total{application=\"" + service + "\"})";
    assertThat(prometheus.value(received)).isEqualTo(prometheus.value(calls));
  }

  private boolean noRingIsLeft() throws IOException {
    try (Stream<Path> files = Files.list(rings)) {
      return files.noneMatch(file -> file.toString().endsWith(".ring"));
    }
  }
}
