package org.traceetl.perf.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

final class FromTest {
  private static From parsed(String... arguments) {
    return new CommandLine(new Rivals())
        .parseArgs(arguments)
        .commandSpec()
        .findOption("--from")
        .getValue();
  }

  @Test
  void aSenderCreatesTheSpansUnlessAnApplicationIsNamed() {
    assertThat(parsed()).isEqualTo(From.SENDER);
  }

  @ParameterizedTest
  @EnumSource
  void valuesAreReadAsTheyAreShown(From from) {
    assertThat(parsed("--from", from.toString())).isEqualTo(from);
  }

  @ParameterizedTest
  @ValueSource(strings = {"APPLICATION", "agent", ""})
  void otherValuesAreRefusedWithThoseAllowed(String value) {
    assertThatThrownBy(() -> parsed("--from", value))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("--from")
        .hasMessageContaining("'" + value + "' must be sender or application");
  }
}
