package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
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
import org.traceetl.exporter.RingSpanProcessor;
import org.traceetl.testkit.Programs;
import org.traceetl.testkit.Prometheus;
import tools.jackson.databind.JsonNode;

/**
 * Tests the path from rings of Java and Python applications through the agent, a real RocketMQ and
 * the server into a real Prometheus. Counts must be exact, even after kills. Rings also have the
 * spans of past minutes, by which a new version of an application is compared.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class RingEndToEndTest {
  private static final int QUEUES = 2;
  private static final int SPANS_BEFORE_KILL = 2_000;

  private static final Path RULES =
      Path.of(
          System.getProperty("basedir", "."),
          "..",
          "deploy",
          "prometheus",
          "trace-etl-alerts.rules.yaml");

  private static final String SLOWER = "release-slower";
  private static final String EQUAL = "release-equal";
  private static final Duration SLOT = Duration.ofSeconds(30);
  private static final int SLOTS_OF_OLD = 14;
  private static final int SLOTS_OF_NEW = 8;
  private static final int CALLS_OF_SLOT = 40;
  private static final long CALL_MICROS = 45_000;

  /** Without digits, which would be replaced; enough for series on both queues. */
  private static final List<String> NAMES =
      List.of("/cart", "/find", "/help", "/home", "/item", "/list", "/pay", "/ship");

  @TempDir private static Path directory;
  private Path rings;
  private EmbeddedInstallation installation;
  private Prometheus prometheus;

  @BeforeAll
  void start() throws Exception {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    properties.put("trace-etl.series.dimensions[0].attribute", "service.version");
    properties.put("trace-etl.series.dimensions[0].from", "resource");
    EmbeddedInstallation.Settings settings = SharedBroker.settings(topic, directory, properties);
    rings = settings.ringDirectory();
    installation = EmbeddedInstallation.start(settings);
    installation.awaitReady(Duration.ofSeconds(60));
    // An application that starts before the directory exists would send OTLP.
    await("the rings' directory")
        .atMost(Duration.ofSeconds(60))
        .until(() -> Files.isDirectory(rings));
    prometheus =
        Prometheus.startWithRules(
            directory.resolve("prometheus"),
            Map.of("trace-etl", installation.httpPort()),
            List.of(RULES),
            false);
    awaitPanes();
    release();
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

  /** Waits until the server counts the spans of all queues at their own time. */
  private void awaitPanes() {
    int[] probes = {0};
    EndToEndTest.eventually("calls in a past minute")
        .untilAsserted(() -> {
          String probe = "probe-" + probes[0]++;
          writeCalls(probe, "1", 100, Instant.now().minus(SLOT.multipliedBy(10)), 1);
          EndToEndTest.eventually("the calls")
              .untilAsserted(() -> assertThat(calls(probe, Instant.MAX)).isPositive());
          Instant past = Instant.now().minus(SLOT.multipliedBy(5));
          assertThat(calls(probe, past)).isEqualTo(CALLS_OF_SLOT);
        });
  }

  /** Returns the calls in the history until a time. */
  private long calls(String application, Instant until) throws Exception {
    long calls = 0;
    String path = "/api/history?application=" + application;
    for (JsonNode minute : EndToEndTest.json(installation.httpPort(), path).path("minutes")) {
      boolean isBefore = Instant.parse(minute.get("start").asString()).isBefore(until);
      calls += isBefore ? minute.get("calls").asLong() : 0;
    }
    return calls;
  }

  /**
   * Writes the calls of the last minutes into rings, as applications do while no agent runs: the
   * agent dates them at their ends.
   */
  private void release() {
    long slot = Instant.now().toEpochMilli() / SLOT.toMillis() - SLOTS_OF_OLD - SLOTS_OF_NEW;
    Instant begin = Instant.ofEpochMilli(slot * SLOT.toMillis()).plus(SLOT.dividedBy(2));
    for (String application : List.of(SLOWER, EQUAL)) {
      writeCalls(application, "1", 100, begin, SLOTS_OF_OLD);
      writeCalls(
          application,
          "2",
          application.equals(SLOWER) ? 120 : 100,
          begin.plus(SLOT.multipliedBy(SLOTS_OF_OLD)),
          SLOTS_OF_NEW);
    }
  }

  /** Writes calls of which one in twenty fails, and whose durations vary by slot and by call. */
  private void writeCalls(
      String application, String version, int percent, Instant begin, int slots) {
    Resource resource =
        Resource.create(
            Attributes.of(
                AttributeKey.stringKey("service.name"), application,
                AttributeKey.stringKey("service.version"), version));
    RingSpanProcessor ring =
        RingSpanProcessor.builder().setDirectory(rings).setResource(resource).build();
    try (SdkTracerProvider provider =
        SdkTracerProvider.builder().setResource(resource).addSpanProcessor(ring).build()) {
      Tracer tracer = provider.get("release");
      for (int slot = 0; slot < slots; slot++) {
        Instant end = begin.plus(SLOT.multipliedBy(slot));
        for (int call = 0; call < CALLS_OF_SLOT; call++) {
          int noise = slot * 5 % 7 + call * 7 % 5 - 5;
          long micros = CALL_MICROS * percent * (100 + noise) / 10_000;
          Span span =
              tracer
                  .spanBuilder(NAMES.get(call % NAMES.size()))
                  .setNoParent()
                  .setSpanKind(SpanKind.SERVER)
                  .setStartTimestamp(end.minus(micros, ChronoUnit.MICROS))
                  .startSpan();
          if (call % 20 == 0) {
            span.setStatus(StatusCode.ERROR);
          }
          span.end(end);
        }
      }
    }
  }

  /**
   * Tests that a version with 20 % longer durations is worse in the API, on the page and by an
   * alert, and that an equal version has no verdict.
   */
  @Test
  void slowerVersionRaisesAnAlertAndAnEqualOneDoesNot() throws Exception {
    EndToEndTest.eventually("a verdict")
        .untilAsserted(() -> {
          Map<String, JsonNode> signals = signals(SLOWER);
          assertThat(signals).containsKey("latency_mean");
          assertThat(signals.get("latency_mean").get("verdict").asString()).isEqualTo("worse");
        });
    JsonNode mean = signals(SLOWER).get("latency_mean");
    assertThat(mean.get("lower").asDouble()).isBetween(0.05, 0.2);
    assertThat(mean.get("upper").asDouble()).isGreaterThan(0.2);
    assertThat(signals(SLOWER).get("errors").get("verdict").asString())
        .isEqualTo("no_difference_yet");
    String alerts = "ALERTS{alertname=\"TraceEtlDeployWorse\", version=\"2\", previous=\"1\"";
    EndToEndTest.eventually("the alert")
        .atMost(Duration.ofMinutes(3))
        .until(() ->
            prometheus.hasData(
                alerts
                    + ", signal=\"latency_mean\", alertstate=\"firing\", application=\""
                    + SLOWER
                    + "\"}",
                true));
    EndToEndTest.eventually("the signals of equal versions")
        .untilAsserted(() ->
            assertThat(signals(EQUAL)).containsOnlyKeys("errors", "latency_mean", "latency_rank"));
    assertThat(signals(EQUAL).values())
        .allSatisfy(
            signal -> assertThat(signal.get("verdict").asString()).isEqualTo("no_difference_yet"));
    assertThat(prometheus.query("trace_etl_deploy_verdict{application=\"" + EQUAL + "\"}"))
        .hasSize(3)
        .allSatisfy(sample -> assertThat(sample.value()).isZero());
    assertThat(prometheus.query("count by (application) (" + alerts + "})"))
        .extracting(sample -> sample.labels().get("application"))
        .containsExactly(SLOWER);
  }

  /** Returns the comparison of an application's versions, by signal. */
  private Map<String, JsonNode> signals(String application) throws Exception {
    JsonNode deploys =
        EndToEndTest.json(installation.httpPort(), "/api/deploys?application=" + application)
            .get("deploys");
    assertThat(deploys).hasSize(1);
    Map<String, JsonNode> signals = new HashMap<>();
    deploys
        .get(0)
        .get("signals")
        .forEach(signal -> signals.put(signal.get("signal").asString(), signal));
    return signals;
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
