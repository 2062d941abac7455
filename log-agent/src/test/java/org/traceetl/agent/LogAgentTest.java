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
import picocli.CommandLine;

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
    assertThat(err.toString()).startsWith("--config = /none.yaml: cannot read the file");
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
    assertThat(err.toString()).contains("Unknown option: '--chek-config'");
  }

  @Test
  void helpExplainsTheExitCodes() {
    assertThat(run(Map.of(), "--help")).isZero();
    assertThat(out.toString()).contains("--config=FILE", "Exit codes: 1 cannot start");
  }

  private int run(Map<String, String> environment, String... arguments) {
    return new CommandLine(new LogAgent(environment))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(arguments);
  }
}
