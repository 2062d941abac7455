package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

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

  private int run(String... arguments) {
    return new CommandLine(new Standalone()).setErr(new PrintWriter(err)).execute(arguments);
  }
}
