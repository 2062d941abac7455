package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the demo's answers before it starts anything. */
final class StandaloneTest {
  private final StringWriter err = new StringWriter();

  @ParameterizedTest
  @CsvSource({
    "--http-port, 70000",
    "--http-port, -1",
    "--otlp-grpc-port, 65536",
    "--otlp-http-port, 100000"
  })
  void numberOutsideThePortRangeIsRefused(String flag, String number) {
    assertThat(run(flag + "=" + number)).isEqualTo(2);
    assertThat(err.toString()).startsWith(flag + " = " + number + ": not a port from 0 to 65535\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--trace-log=[ | --trace-log = [: must be a glob: ",
        "--ring-directory=relative | --ring-directory = relative: must be an absolute path",
      })
  void whatTheAgentWouldRefuseIsRefusedAtTheStart(String option, String problem) {
    assertThat(run(option)).isEqualTo(2);
    assertThat(err.toString()).startsWith(problem).endsWith("\nSee --help.\n");
  }

  @Test
  void unknownIncidentIsRefusedWithTheAllowedOnes() {
    assertThat(run("--incident=fire")).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("Invalid value for option '--incident'")
        .endsWith("'fire' is no incident; allowed: " + Incident.ALL + "\nSee --help.\n");
  }

  @Test
  void incidentWithoutServicesIsRefused() {
    assertThat(run("--no-load", "--incident=slow-query")).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("--incident = slow-query: requires the simulated services; omit --no-load\n");
  }

  @Test
  void unusableDataDirectoryIsNamedWithTheReason() {
    assertThat(
            run("--data-dir=/proc/x", "--otlp-grpc-port=0", "--otlp-http-port=0", "--http-port=0"))
        .isEqualTo(1);
    assertThat(err.toString())
        .isEqualTo(
            "demo: --data-dir = /proc/x: cannot be created (No such file or directory); let this"
                + " user write there, or give another\n");
  }

  @Test
  void unknownOptionIsReportedWithoutTheUsage() {
    assertThat(run("--rates=3")).isEqualTo(2);
    assertThat(err.toString()).isEqualTo("Unknown option: '--rates=3'\nSee --help.\n");
  }

  private int run(String... arguments) {
    return Standalone.commandLine().setErr(new PrintWriter(err)).execute(arguments);
  }
}
