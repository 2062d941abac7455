package org.traceetl.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.access.TestCertificates;
import org.traceetl.testkit.Programs;

/** Tests a real process, its files and SIGHUP. */
@Timeout(120)
@EnabledOnOs({OS.LINUX, OS.MAC})
final class ReloadOnSighupTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final TestCertificates CA = new TestCertificates("a root");
  private static final List<String> HANG_UP_RESET = List.of("env", "--default-signal=HUP");

  @TempDir private Path directory;
  private Process agent;

  @AfterEach
  void end() {
    if (agent != null) {
      agent.destroyForcibly();
    }
  }

  @Test
  void changedFilesAreReloadedOnSighup() throws Exception {
    CA.issue().writeTo(directory);
    Files.writeString(directory.resolve("token"), "old");
    Files.writeString(directory.resolve("routing.yaml"), "queues-per-application: 3\n");
    Files.createFile(directory.resolve("filters.yaml"));
    Path first = Files.createFile(directory.resolve("first.log"));
    Path second = Files.createFile(directory.resolve("second.log"));
    follow(first);
    start();
    awaitLog("Receiving OTLP on 127.0.0.1", ", with TLS");
    awaitLog("Reading " + first);
    // The agent installs its handler last; an earlier SIGHUP ends the process.
    awaitLog("Send SIGHUP to re-read");

    CA.issue().writeTo(directory);
    Files.writeString(directory.resolve("token"), "new");
    Files.writeString(directory.resolve("routing.yaml"), "exclude: [load-test]\n");
    Files.writeString(directory.resolve("filters.yaml"), "drop: [{name: ping}]\n");
    follow(second);
    hangUp();

    awaitLog("Applied the change of otlp_tls");
    awaitLog("Applied the change of otlp_token");
    awaitLog("Applied the change of telemetry_tls");
    awaitLog("Applied the change of telemetry_token");
    awaitLog("Applied the change of config_file");
    // Other watches check these files; without SIGHUP, only every ten minutes.
    awaitLog("Applied the routing file: 0 rules, 1 exclusions");
    awaitLog("Applied the filters file: 1 drop rules");
    awaitLog("Reading " + second);

    Instant past = Instant.now().minus(Duration.ofHours(1));
    CA.issue("EC", past.minus(Duration.ofHours(1)), past).writeTo(directory);
    hangUp();
    awaitLog("Refused the change of otlp_tls", "tls.crt: expired at");
    awaitLog("Refused the change of telemetry_tls", "tls.crt: expired at");

    assertThat(agent.isAlive()).isTrue();
    agent.destroy();
    assertThat(agent.waitFor(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(agent.exitValue()).isEqualTo(128 + 15);
  }

  @Test
  void invalidCertificateEndsTheStart() throws Exception {
    CA.issue().writeTo(directory);
    Files.write(directory.resolve("tls.key"), CA.issue().keyPem());
    Files.writeString(directory.resolve("token"), "token");
    Files.createFile(directory.resolve("routing.yaml"));
    Files.createFile(directory.resolve("filters.yaml"));
    follow(directory.resolve("none.log"));
    start();

    assertThat(agent.waitFor(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(agent.exitValue()).isEqualTo(2);
    assertThat(log())
        .contains("otlp.tls.private-key-file = " + directory.resolve("tls.key") + ": does not");
  }

  @Test
  void invalidRoutingFileChangesNothing() throws Exception {
    Path routing = directory.resolve("routing.yaml");
    Files.writeString(routing, "queues-per-application: 3\n");
    configure("routing: {file: %s, file-poll-millis: 600000}".formatted(routing));
    start();
    awaitLog("Send SIGHUP to re-read");
    Files.writeString(routing, "queues-per-application: 5\nexclude: [load-test]\n");
    hangUp();
    awaitLog("Applied the routing file: 0 rules, 1 exclusions");
    Files.writeString(routing, "queues-per-application: 5\nexclude: load-test\n");
    hangUp();
    awaitLog(
        "Refused the change of routing_file; the previous version stays in force: routing.file = "
            + routing
            + ": line 2: exclude = load-test: must be a list of names of applications");
  }

  @Test
  void agentUnderNohupReportsThatItIgnoresSighup() throws Exception {
    configure("");
    start(List.of("nohup"));
    awaitLog("SIGHUP is ignored because the parent process, such as nohup");
  }

  /** Writes the configuration of an agent without TLS and telemetry. */
  private void configure(String more) throws IOException {
    Files.writeString(
        directory.resolve("agent.yaml"),
        """
        state-directory: %s
        ring: {enabled: false}
        otlp: {host: 127.0.0.1, grpc-port: 0, http-port: 0}
        telemetry: {enabled: false}
        rocketmq: {name-server: "127.0.0.1:1"}
        drain-timeout-millis: 0
        %s
        """
            .formatted(directory.resolve("state"), more));
  }

  private void follow(Path log) throws IOException {
    Files.writeString(
        directory.resolve("agent.yaml"),
        """
        state-directory: %1$s/state
        ring: {enabled: false}
        otlp:
          host: 127.0.0.1
          grpc-port: 0
          http-port: 0
          tls: {certificate-file: %1$s/tls.crt, private-key-file: %1$s/tls.key}
          token-file: %1$s/token
        telemetry:
          host: 127.0.0.1
          port: 0
          tls: {certificate-file: %1$s/tls.crt, private-key-file: %1$s/tls.key}
          token-file: %1$s/token
        files: {paths: ["%2$s"], poll-interval-millis: 10}
        routing: {file: %1$s/routing.yaml, file-poll-millis: 600000}
        filters: {file: %1$s/filters.yaml, file-poll-millis: 600000}
        rocketmq: {name-server: "127.0.0.1:1"}
        drain-timeout-millis: 0
        """
            .formatted(directory, log));
  }

  /** Starts with the default SIGHUP handling, even if these tests run under nohup. */
  private void start() throws Exception {
    start(resetsHangUp() ? HANG_UP_RESET : List.of());
  }

  /** Only newer versions of env can reset SIGHUP. */
  private static boolean resetsHangUp() throws Exception {
    List<String> nothing = new ArrayList<>(HANG_UP_RESET);
    nothing.add("true");
    return new ProcessBuilder(nothing)
            .redirectErrorStream(true)
            .redirectOutput(Redirect.DISCARD)
            .start()
            .waitFor()
        == 0;
  }

  private void start(List<String> before) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Programs.SHORT_LIVED_JVM);
    command.addAll(
        List.of(
            "-Xmx128m",
            "-cp",
            System.getProperty("java.class.path"),
            LogAgent.class.getName(),
            "--config",
            directory.resolve("agent.yaml").toString()));
    agent =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile())
            .start();
  }

  private void hangUp() throws Exception {
    assertThat(new ProcessBuilder("kill", "-HUP", Long.toString(agent.pid())).start().waitFor())
        .isZero();
  }

  private void awaitLog(String... texts) {
    await()
        .atMost(LONG)
        .untilAsserted(
            () -> assertThat(log().lines()).anySatisfy(line -> assertThat(line).contains(texts)));
  }

  private String log() throws IOException {
    return Files.readString(directory.resolve("output"));
  }
}
