package org.traceetl.server.consume;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;

class AggregationTest {
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CLASSIC")
  void nativeBucketsAreOfNoUnitByDefault(HistogramConfig.Kind kind) {
    assertThatThrownBy(() ->
            new Aggregation(
                SeriesConfig.defaults(),
                new HistogramConfig(null, kind, null),
                DocumentsConfig.defaults(),
                new WindowConfig(null, null)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("histogram.kind = " + kind + ": must come with the unit of durations");
  }
}
