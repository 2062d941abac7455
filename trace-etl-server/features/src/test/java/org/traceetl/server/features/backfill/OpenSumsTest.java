package org.traceetl.server.features.backfill;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.SeriesDefinition;

/** The sums of panes, less what live series count. */
class OpenSumsTest {
  private static final int STRIDE = 2;
  private static final SpanNaming NAMING =
      new SpanNaming(
          MetricsConfig.defaults(),
          SeriesConfig.defaults()
              .withDimensions(List.of(new SeriesConfig.Dimension("tier", null, null))),
          new HistogramConfig(List.of(2.5)));
  private static final SeriesKey GOLD = key("gold");

  private final OpenSums sums = new OpenSums(STRIDE, false, 0, 100);

  private static SeriesKey key(String tier) {
    List<String> values = new ArrayList<>(List.of("shop", "GET /", "2", "0"));
    values.add(tier);
    return new SeriesKey(
        new SeriesDefinition(1, 0, false, values),
        NAMING,
        new News(
            Set.of(SeriesDefinition.FIXED_DIMENSIONS),
            Set.of(),
            SeriesDefinition.FIXED_DIMENSIONS + 1));
  }

  private static List<Long> numbers(Totals sum) {
    return List.of(sum.count(0), sum.count(1), sum.sumMillis(), (long) sum.sumNanos());
  }

  @Test
  void liveCountsAreTakenAway() {
    sums.take(10, GOLD, new long[] {9, 2, 1}, 1, 1_500_000);
    sums.add(10, GOLD, new long[] {5, 1}, 0, 9_000_000);
    sums.add(20, GOLD, new long[] {1, 0}, 0, 1);
    sums.take(20, GOLD, new long[] {1, 0}, 0, 1);

    assertThat(sums.take(10))
        .hasSize(1)
        .hasEntrySatisfying(
            GOLD, sum -> assertThat(numbers(sum)).isEqualTo(List.of(3L, 0L, 7L, 500_000L)));
    assertThat(sums.take(20)).isEmpty();
    assertThat(sums.owedSpans(STRIDE)).isZero();
  }

  @Test
  void nativeBucketsAreTakenAwayToo() {
    OpenSums natives = new OpenSums(STRIDE, true, 0, 100);
    NativeCounts all = new NativeCounts(new int[] {2}, new int[] {7, 9}, new long[] {5, 6});
    NativeCounts live = new NativeCounts(new int[] {2}, new int[] {7, 8}, new long[] {5, 1});
    natives.take(10, GOLD, new long[] {0, 6}, 0, 0);
    natives.addNatives(10, GOLD, live, 0, true);
    natives.add(10, GOLD, new long[] {0, 11}, 0, 0);
    natives.addNatives(10, GOLD, all, 0, false);

    // Bucket 8 of a late span is in the next pane.
    Totals first = natives.take(10).get(GOLD);
    assertThat(first.natives().buckets()).containsExactly(9);
    assertThat(first.natives().counts()).containsExactly(6);
    natives.add(20, GOLD, new long[] {0, 3}, 0, 0);
    natives.addNatives(
        20, GOLD, new NativeCounts(new int[] {1}, new int[] {8}, new long[] {3}), 0, false);
    assertThat(natives.take(20).get(GOLD).natives().counts()).containsExactly(2);
  }

  @Test
  void whatAPaneLacksIsTakenFromLaterOnes() {
    sums.add(10, GOLD, new long[] {1, 1}, 0, 3_000_000);
    sums.take(10, GOLD, new long[] {3, 0}, 0, 3_000_001);
    sums.add(30, GOLD, new long[] {5, 0}, 0, 10);

    Map<SeriesKey, Totals> first = sums.take(10);
    assertThat(numbers(first.get(GOLD))).isEqualTo(List.of(0L, 1L, 0L, 0L));
    assertThat(sums.owedSpans(STRIDE)).isEqualTo(2);
    assertThat(sums.take(20)).isEmpty();
    assertThat(sums.owedSpans(STRIDE)).isEqualTo(2);
    assertThat(numbers(sums.take(30).get(GOLD))).isEqualTo(List.of(3L, 0L, 0L, 9L));
    assertThat(sums.owedSpans(STRIDE)).isZero();
  }

  @Test
  void newSeriesHaveAValueThatAgentsSent() {
    assertThat(GOLD.isNew()).isTrue();
    assertThat(key("").isNew()).isFalse();
    assertThat(key(null).isNew()).isFalse();
    assertThat(key(BatchDecoder.NOT_SENT).isNew()).isFalse();
  }
}
