package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.exporter.ring.RingReader;
import org.traceetl.exporter.ring.RingSpan;

/** As an extension of the real OpenTelemetry Java agent, in a process of its own. */
@Timeout(180)
class JavaAgentTest {
  private static final int REQUESTS = 20;

  @TempDir Path directory;

  @Test
  void theAgentsSpansGoIntoARing() throws Exception {
    Path rings = Files.createDirectory(directory.resolve("rings"));
    String log = run(rings, "http://127.0.0.1:9");

    assertThat(log).contains("Spans go to the ring " + rings);
    try (RingReader reader = new RingReader(RingSpanProcessorTest.ring(rings))) {
      List<RingSpan> spans = reader.drain();
      assertThat(spans.stream().filter(span -> span.kind == 2)).hasSize(REQUESTS);
      assertThat(spans.stream().filter(span -> span.kind == 3)).hasSize(REQUESTS);
      assertThat(spans).hasSize(2 * REQUESTS);
      assertThat(spans.get(0).attribute("http.response.status_code")).isEqualTo(204L);
      assertThat(reader.resource()).contains(new RingSpan.Attribute("service.name", "shop"));
      assertThat(reader.resource())
          .contains(
              new RingSpan.Attribute(
                  "telemetry.distro.name", "opentelemetry-java-instrumentation"));
    }
  }

  @Test
  void withoutADirectoryTheyGoByTheAgentsOwnOtlpExporter() throws Exception {
    try (OtlpReceiver otlp = new OtlpReceiver()) {
      String log = run(directory.resolve("none"), otlp.endpoint());

      assertThat(log).contains(directory + "/none does not exist; spans go to OTLP");
      assertThat(otlp.names()).hasSize(2 * REQUESTS);
    }
  }

  private String run(Path rings, String endpoint) throws Exception {
    Path log = directory.resolve("log.txt");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-javaagent:" + agent(),
            "-Dotel.javaagent.extensions=" + extension(),
            "-Dotel.service.name=shop",
            "-Dotel.traces.exporter=trace-etl",
            "-Dotel.metrics.exporter=none",
            "-Dotel.logs.exporter=none",
            "-Dotel.exporter.trace-etl.directory=" + rings,
            "-Dotel.exporter.otlp.endpoint=" + endpoint,
            "-cp",
            Path.of("target", "test-classes").toAbsolutePath().toString(),
            AgentApplication.class.getName(),
            Integer.toString(REQUESTS)));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      assertThat(process.waitFor()).as(() -> read(log)).isZero();
    } finally {
      process.destroyForcibly();
    }
    return read(log);
  }

  private static String read(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static String agent() {
    return Arrays.stream(System.getProperty("java.class.path").split(":"))
        .filter(entry -> entry.contains("opentelemetry-javaagent-"))
        .findFirst()
        .orElseThrow();
  }

  /** The module's jar, which is made after the tests have run. */
  private Path extension() throws IOException {
    Path classes = Path.of("target", "classes");
    Path jar = directory.resolve("trace-etl-exporter.jar");
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(out);
        var files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        entries.putNextEntry(new JarEntry(classes.relativize(file).toString()));
        Files.copy(file, entries);
      }
    }
    return jar;
  }
}
