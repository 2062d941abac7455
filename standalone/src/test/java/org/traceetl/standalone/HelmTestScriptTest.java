package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the script of {@code helm test} against a real agent, broker and server. */
final class HelmTestScriptTest {
  private static final Path SCRIPT =
      Path.of(System.getProperty("basedir", "."), "../deploy/helm/trace-etl/files/test.sh");

  @TempDir private Path directory;

  @Test
  void scriptSendsASpanAndFindsItCounted() throws Exception {
    String topic = SharedBroker.newTopic(2);
    try (EmbeddedInstallation installation =
        EmbeddedInstallation.start(SharedBroker.settings(topic, directory, Map.of()))) {
      installation.awaitReady(Duration.ofSeconds(60));
      ProcessBuilder script =
          new ProcessBuilder("bash", "-c", Files.readString(SCRIPT)).redirectErrorStream(true);
      script.environment().put("OTLP", "http://localhost:" + installation.otlpHttpPort());
      script.environment().put("WEB", "http://localhost:" + installation.httpPort());
      Process process = script.start();
      String said = new String(process.getInputStream().readAllBytes());

      assertThat(process.waitFor()).as(said).isZero();
      assertThat(said).contains("PASSED: the span is counted once");
    }
  }
}
