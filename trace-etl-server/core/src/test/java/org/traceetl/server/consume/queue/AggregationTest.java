package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.dedup.BatchHistory;

class AggregationTest {
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CLASSIC")
  void nativeBucketsAreOfNoUnitByDefault(HistogramConfig.Kind kind) {
    assertThatThrownBy(() ->
            Aggregation.builder(() -> 1).histogram(new HistogramConfig(null, kind, null)).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("histogram.kind = " + kind + ": must come with the unit of durations");
  }

  @ParameterizedTest
  @ValueSource(ints = {10_000, 10_001, 100_000})
  void eachAgentOfALargeFleetIsRememberedByDefault(int agents) {
    BatchHistory history = Aggregation.builder(() -> 1).build().newImage().history();
    for (int agent = 0; agent < agents; agent++) {
      history.isFirst(0, agent, 1, 0, agent);
    }
    int countedTwice = 0;
    for (int agent = 0; agent < agents; agent++) {
      if (history.isFirst(0, agent, 1, 0, agents + agent)) {
        countedTwice++;
      }
    }

    assertThat(countedTwice).isZero();
  }
}
