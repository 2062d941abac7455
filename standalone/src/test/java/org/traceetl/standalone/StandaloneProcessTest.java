package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.Programs;

/** Tests the demo in its own process, as a user starts and ends it. */
final class StandaloneProcessTest {
  private static final int SIGTERM_EXIT = 143;

  @TempDir private Path directory;

  @Test
  void spansSentBeforeSigtermCountOnceAndStay() throws Exception {
    Set<String> sent = new HashSet<>();
    try (Demo demo =
        Demo.start(directory, "--no-load", "--data-dir", directory.resolve("data").toString())) {
      try (OtlpSpans spans = OtlpSpans.overGrpc("shop", demo.grpcPort)) {
        for (int i = 0; i < 8; i++) {
          sent.add(spans.send("POST /orders", SpanKind.SERVER, StatusCode.ERROR, 5_000_000));
        }
        spans.flush();
      }
      assertThat(demo.terminate()).isEqualTo(SIGTERM_EXIT);
    }
    try (Demo demo =
        Demo.start(directory, "--no-load", "--data-dir", directory.resolve("data").toString())) {
      // Documents that were not indexed before the stop are in the journal.
      EndToEndTest.eventually("the index of the first process")
          .untilAsserted(() ->
              assertThat(EndToEndTest.traceIds(EndToEndTest.traces(demo.httpPort, "reason=error")))
                  .isEqualTo(sent));
      try (OtlpSpans spans = OtlpSpans.overHttp("shop", demo.otlpHttpPort)) {
        for (int i = 0; i < 3; i++) {
          sent.add(spans.send("POST /orders", SpanKind.SERVER, StatusCode.ERROR, 5_000_000));
        }
        spans.flush();
      }
      EndToEndTest.eventually("the spans after the restart")
          .until(() -> demo.metrics().contains("service_name=\"shop\""));
      // The counts of the first process continue.
      EndToEndTest.eventually("their count").untilAsserted(() -> demo.assertCalls(11));
      EndToEndTest.eventually("the index")
          .untilAsserted(() ->
              assertThat(EndToEndTest.traceIds(EndToEndTest.traces(demo.httpPort, "reason=error")))
                  .isEqualTo(sent));
      assertThat(demo.terminate()).isEqualTo(SIGTERM_EXIT);
    }
  }

  @Test
  void countsBeforeAKillContinueAfterIt() throws Exception {
    String data = directory.resolve("data").toString();
    String created;
    try (Demo demo = Demo.start(directory, "--no-load", "--data-dir", data)) {
      try (OtlpSpans spans = OtlpSpans.overGrpc("shop", demo.grpcPort)) {
        for (int i = 0; i < 8; i++) {
          spans.send("POST /orders", SpanKind.SERVER, StatusCode.OK, 5_000_000);
        }
        spans.flush();
        EndToEndTest.eventually("the first spans").untilAsserted(() -> demo.assertCalls(8));
        created = demo.created();
        for (int i = 0; i < 4; i++) {
          spans.send("POST /orders", SpanKind.SERVER, StatusCode.OK, 5_000_000);
        }
        spans.flush();
      }
      demo.process.destroyForcibly().waitFor();
    }
    try (Demo demo = Demo.start(directory, "--no-load", "--data-dir", data)) {
      EndToEndTest.eventually("the counts of the process that was killed")
          .untilAsserted(() -> demo.assertCalls(12));
      assertThat(demo.created()).isEqualTo(created);
      try (OtlpSpans spans = OtlpSpans.overGrpc("shop", demo.grpcPort)) {
        spans.send("POST /orders", SpanKind.SERVER, StatusCode.OK, 5_000_000);
        spans.flush();
      }
      EndToEndTest.eventually("one more").untilAsserted(() -> demo.assertCalls(13));
    }
  }

  @Test
  void simulatedServicesAppearInMetricsAndIndex() throws Exception {
    try (Demo demo = Demo.start(directory, "--rate", "300")) {
      for (String service : List.of("frontend", "catalogue", "cart", "checkout", "payment")) {
        EndToEndTest.eventually(service)
            .until(() -> demo.metrics().contains("calls_total{service_name=\"" + service + "\""));
      }
      EndToEndTest.eventually("failed ones")
          .until(() -> !EndToEndTest.traces(demo.httpPort, "reason=error").isEmpty());
      EndToEndTest.eventually("slow ones")
          .until(() -> !EndToEndTest.traces(demo.httpPort, "reason=slow").isEmpty());
      assertThat(demo.terminate()).isEqualTo(SIGTERM_EXIT);
    }
  }

  @Test
  void namedEventsAreCounted() throws Exception {
    try (Demo demo = Demo.start(directory, "--no-load", "--event=exception", "--event=retry")) {
      try (OtlpSpans spans = OtlpSpans.overGrpc("shop", demo.grpcPort)) {
        spans.sendFailed("POST /orders", List.of(new IllegalStateException()), "retry", "other");
        spans.flush();
      }
      EndToEndTest.eventually("the events")
          .untilAsserted(() ->
              assertThat(demo.metrics().lines())
                  .filteredOn(line -> line.startsWith("traces_span_metrics_events_total{"))
                  .hasSize(2)
                  .anyMatch(line ->
                      line.contains("event_name=\"exception\"")
                          && line.contains("exception_type=\"java.lang.IllegalStateException\""))
                  .anyMatch(line -> line.contains("event_name=\"retry\"")));
    }
  }

  @Test
  void portInUseIsReportedWithItsFlag() throws Exception {
    try (ServerSocket taken = new ServerSocket()) {
      taken.bind(new InetSocketAddress(0));
      String port = Integer.toString(taken.getLocalPort());
      Programs.Result result =
          Programs.run(
              Demo.command("--http-port=0", "--otlp-grpc-port=0", "--otlp-http-port=" + port),
              new byte[0]);
      assertThat(result.exitCode()).isEqualTo(1);
      assertThat(result.output()).contains("--otlp-http-port = " + port).contains("in use");
    }
  }

  @Test
  void malformedWindowIsRefused() throws Exception {
    Programs.Result result = Programs.run(Demo.command("--window=soon"), new byte[0]);
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.output()).contains("--window").contains("soon");
  }

  /** The running process, with the ports that it prints. */
  private static final class Demo implements AutoCloseable {
    private final Process process;
    private int grpcPort;
    private int otlpHttpPort;
    private int httpPort;

    private Demo(Process process) {
      this.process = process;
    }

    static List<String> command(String... arguments) {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(Programs.SHORT_LIVED_JVM);
      command.addAll(
          List.of(
              "-Xmx512m",
              "--enable-native-access=ALL-UNNAMED",
              "--sun-misc-unsafe-memory-access=allow",
              "-cp",
              System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
              Standalone.class.getName()));
      command.addAll(List.of(arguments));
      return command;
    }

    static Demo start(Path directory, String... arguments) throws IOException {
      List<String> command = command(arguments);
      command.addAll(
          List.of(
              "--otlp-grpc-port=0",
              "--otlp-http-port=0",
              "--http-port=0",
              "--window=1s",
              "--ring-directory=" + directory.resolve("rings")));
      Path output = Files.createTempFile(directory, "demo", ".txt");
      Demo demo =
          new Demo(
              new ProcessBuilder(command)
                  .redirectErrorStream(true)
                  .redirectOutput(output.toFile())
                  .start());
      EndToEndTest.eventually("the demo, which writes to " + output)
          .until(() -> Files.readString(output).contains("Ctrl-C") || !demo.process.isAlive());
      String text = Files.readString(output);
      demo.grpcPort = port(text, "OTLP/gRPC localhost:(\\d+)");
      demo.otlpHttpPort = port(text, "OTLP/HTTP http://localhost:(\\d+)");
      demo.httpPort = port(text, "localhost:(\\d+)/ready");
      return demo;
    }

    private static int port(String text, String pattern) {
      Matcher matcher = Pattern.compile(pattern).matcher(text);
      assertThat(matcher.find()).as(text).isTrue();
      return Integer.parseInt(matcher.group(1));
    }

    String metrics() throws IOException {
      return metrics("text/plain");
    }

    private String metrics(String accept) throws IOException {
      URLConnection page =
          URI.create("http://127.0.0.1:" + httpPort + "/metrics").toURL().openConnection();
      page.setRequestProperty("Accept", accept);
      try (InputStream in = page.getInputStream()) {
        return new String(in.readAllBytes(), UTF_8);
      }
    }

    /** Asserts that one series exists, with this number of calls. */
    void assertCalls(int calls) throws IOException {
      assertThat(metrics().lines())
          .filteredOn(line -> line.startsWith("traces_span_metrics_calls_total{"))
          .singleElement()
          .satisfies(line -> assertThat(line).endsWith(" " + calls));
    }

    /** Returns the line with the creation time of the only series. */
    String created() throws IOException {
      return metrics("application/openmetrics-text")
          .lines()
          .filter(line -> line.startsWith("traces_span_metrics_calls_created{"))
          .findFirst()
          .orElseThrow();
    }

    /** Sends SIGTERM, waits for the end and returns the exit code. */
    int terminate() throws InterruptedException {
      process.destroy();
      assertThat(process.waitFor(80, TimeUnit.SECONDS)).as("ends").isTrue();
      return process.exitValue();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }
}
