package org.traceetl.perf.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

final class DetailTest {
  @Command
  private static final class Bench {
    @Mixin private Shipped shipped;
  }

  private static Detail parsed(String... arguments) {
    Bench bench = new Bench();
    new CommandLine(bench).parseArgs(arguments);
    return bench.shipped.detail();
  }

  @Test
  void agentsObeyTheDemandUnlessAllIsConfigured() {
    assertThat(parsed()).isEqualTo(Detail.DEMAND);
    assertThat(Detail.FULL.settings()).isEqualTo("detail: {default: full}\n");
    assertThat(Detail.DEMAND.settings()).isEqualTo("detail: {default: demand}\n");
  }

  @ParameterizedTest
  @EnumSource
  void valuesAreReadAsTheyAreShown(Detail detail) {
    assertThat(parsed("--detail", detail.toString())).isEqualTo(detail);
  }

  @ParameterizedTest
  @ValueSource(strings = {"DEMAND", "metrics", ""})
  void otherValuesAreRefusedWithThoseAllowed(String value) {
    assertThatThrownBy(() -> parsed("--detail", value))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("--detail")
        .hasMessageContaining("'" + value + "' must be full or demand");
  }
}
