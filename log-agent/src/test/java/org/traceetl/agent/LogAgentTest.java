package org.traceetl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LogAgentTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void validConfigurationIsPrintedWithItsEffectiveValues(@TempDir Path directory)
      throws IOException {
    Path file = Files.writeString(directory.resolve("agent.yaml"), "otlp: {grpc-port: 14317}");

    assertThat(run(Map.of(), "--check-config", "--config", file.toString())).isZero();
    assertThat(out.toString()).contains("otlp.grpc-port: 14317\n", "rocketmq.topic: trace-spans\n");
  }

  @Test
  void everyConfigurationErrorIsReported() {
    Map<String, String> environment =
        Map.of("TRACE_ETL_AGENT_OTLP_GRPC_PORT", "x", "TRACE_ETL_AGENT_TELEMETRY_PORT", "-1");

    assertThat(run(environment, "--check-config")).isEqualTo(2);
    assertThat(err.toString().lines())
        .containsExactly(
            "otlp.grpc-port = x: must be a whole number from 0 to 65535",
            "telemetry.port = -1: must be a whole number from 0 to 65535");
  }

  @Test
  void missingConfigurationFileIsReported() {
    assertThat(run(Map.of(), "--check-config", "--config", "/none.yaml")).isEqualTo(2);
    assertThat(err.toString()).isEqualTo("--config = /none.yaml: does not exist\n");
  }

  @Test
  void errorsInTheFileHaveTheirLine(@TempDir Path directory) throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("agent.yaml"),
            """
            otlp:
              grpc-port: x
              grpcport: 1
              max-request-bytes: 67108864
            routing:
              applications:
                shop:
                  queues: 0
            """);
    Map<String, String> environment = Map.of("TRACE_ETL_AGENT_TELEMETRY_PORT", "-1");

    assertThat(run(environment, "--check-config", "--config", file.toString())).isEqualTo(2);
    assertThat(err.toString().lines())
        .hasSize(5)
        .anyMatch(line -> line.matches("otlp.grpc-port = x: .*; " + file + ":2"))
        .anyMatch(line -> line.matches("otlp.grpcport: no such key; .*; " + file + ":3"))
        .anyMatch(line -> line.matches("otlp.max-request-bytes = .*; " + file + ":4"))
        .anyMatch(line -> line.matches("routing.applications.shop.queues = .*; " + file + ":8"))
        .anyMatch(line -> line.matches("telemetry.port = -1: .* 0 to 65535"));
  }

  @Test
  void aVariableOfASectionIsRefusedAsOne() {
    assertThat(run(Map.of("TRACE_ETL_AGENT_OTLP", "5"), "--check-config")).isEqualTo(2);
    assertThat(err.toString())
        .isEqualTo(
            "TRACE_ETL_AGENT_OTLP: is a section of keys: set a variable for each of its keys\n");
  }

  @Test
  void aFileThatIsNotYamlIsNamed(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("agent.yaml"), "otlp: [");

    assertThat(run(Map.of(), "--check-config", "--config", file.toString())).isEqualTo(2);
    assertThat(err.toString()).startsWith(file + ": line 1: not YAML");
  }

  @ParameterizedTest
  @ValueSource(strings = {"LOUD", ""})
  void unknownLogLevelIsRefused(String level) {
    assertThat(run(Map.of("TRACE_ETL_LOG_LEVEL", level), "--check-config")).isEqualTo(2);
    assertThat(err.toString())
        .isEqualTo(
            "TRACE_ETL_LOG_LEVEL = "
                + level
                + ": must be TRACE, DEBUG, INFO, WARN, ERROR or OFF\n");
  }

  @Test
  void invalidRoutingFileEndsTheStart(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("routing.yaml"), "spread: wide\n");
    Map<String, String> environment = Map.of("TRACE_ETL_AGENT_ROUTING_FILE", file.toString());

    assertThat(run(environment, "--check-config")).isEqualTo(2);
    assertThat(run(environment)).isEqualTo(2);
    assertThat(err.toString().lines())
        .containsOnly(
            "routing.file = " + file + ": line 1: spread = wide: must be series or random");
  }

  @Test
  void unknownOptionIsReported() {
    assertThat(run(Map.of(), "--chek-config")).isEqualTo(2);
    assertThat(err.toString()).isEqualTo("Unknown option: '--chek-config'\nSee --help.\n");
  }

  @Test
  void helpExplainsTheExitCodes() {
    assertThat(run(Map.of(), "--help")).isZero();
    assertThat(out.toString()).contains("--config=FILE", "Exit codes: 1 cannot start");
  }

  private int run(Map<String, String> environment, String... arguments) {
    return LogAgent.commandLine(environment)
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(arguments);
  }
}
