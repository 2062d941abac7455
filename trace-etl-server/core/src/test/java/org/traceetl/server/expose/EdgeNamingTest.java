package org.traceetl.server.expose;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.window.SeriesDefinition;

class EdgeNamingTest {
  @ParameterizedTest
  @EnumSource
  void windowsHaveTheBucketsOfPages(HistogramConfig.Kind kind) {
    var histogram = new HistogramConfig(null, kind, null);
    Aggregation aggregation =
        Aggregation.builder(() -> 1).histogram(histogram).unit(Unit.SECONDS).build();
    var naming = new EdgeNaming(histogram, false);

    assertThat(naming.stride()).isEqualTo(aggregation.newImage().stride());
    assertThat(naming.buckets()).isEqualTo(naming.stride());
    assertThat(naming.families())
        .filteredOn(Family::isHistogram)
        .hasSize(4)
        .allMatch(family -> family.buckets() == naming.stride());
  }

  @ParameterizedTest
  @EnumSource
  void eachMeasureIsInOneFamily(EdgeMeasure measure) {
    var naming = new EdgeNaming(new HistogramConfig(null), false);

    assertThat(Long.bitCount(naming.families(definition(measure.kind())))).isOne();
  }

  private static SeriesDefinition definition(int kind) {
    return new SeriesDefinition(
        0, 0, false, Arrays.asList("shop", "pay", Integer.toString(kind), "0", null));
  }
}
