package org.traceetl.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The agent as a process that hears SIGHUP. */
@DisabledOnOs(OS.WINDOWS)
final class HangUpTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir private Path directory;

  @Test
  void aHangUpReadsTheRoutingFileAnewAndAWrongOneChangesNothing() throws Exception {
    Path routing = directory.resolve("routing.yaml");
    Files.writeString(routing, "queues-per-application: 3\n");
    Path config =
        Files.writeString(
            directory.resolve("agent.yaml"),
            """
            state-directory: %s
            otlp: {host: 127.0.0.1, grpc-port: 0, http-port: 0}
            telemetry: {enabled: false}
            routing: {file: %s, file-poll-millis: 600000}
            rocketmq: {name-server: "127.0.0.1:1"}
            """
                .formatted(directory.resolve("state"), routing));
    Path output = directory.resolve("agent.log");
    Process agent =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                LogAgent.class.getName(),
                "--config",
                config.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      // The handler is set last: before it, a hang-up ends the process.
      until(agent, output, "SIGHUP reads " + routing);
      Files.writeString(routing, "queues-per-application: 5\nexclude: [load-test]\n");
      hangUp(agent);
      until(agent, output, "in force, with 0 rules, 1 exclusions");
      Files.writeString(routing, "queues-per-application: 5\nexclude: load-test\n");
      hangUp(agent);
      until(
          agent,
          output,
          "line 2: exclude = load-test: not a list of names of applications; the rules with"
              + " fingerprint");
    } finally {
      agent.toHandle().destroy();
      assertThat(agent.waitFor(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  private static void until(Process agent, Path output, String line) {
    await()
        .atMost(LONG)
        .until(() -> {
          String log = Files.readString(output);
          assertThat(agent.isAlive()).as(log).isTrue();
          return log.contains(line);
        });
  }

  private static void hangUp(Process agent) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-HUP", String.valueOf(agent.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }
}
