package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** Each series has the bytes of its spans, as their batches state them. */
class SpanSizesTest {
  private static final long HALF = 1L << 55;

  private static QueueAggregator newAggregator(boolean hasSizes) {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(
                new EventsConfig(true, null)
                    .addTo(
                        new SeriesConfig(List.of(), null, 4, 4, 4, null, null, null, null),
                        StandardProfile.TEMPO))
            .histogram(new HistogramConfig(List.of(10.0)))
            .sizes(hasSizes)
            .build();
    QueueAggregator aggregator =
        aggregation.newAggregator(
            new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics());
    aggregator.beginAt(0);
    return aggregator;
  }

  private static BatchMessage batch() {
    return new BatchMessage("shop").sizes();
  }

  private static SealedWindow window(boolean hasSizes, BatchMessage... batches) {
    QueueAggregator aggregator = newAggregator(hasSizes);
    long sequence = 0;
    for (BatchMessage batch : batches) {
      aggregator.accept(batch.message(sequence++), 1_000_000);
    }
    return SealedWindows.seal(aggregator, 1_015_000, 1_015_000);
  }

  /** Returns by operation, or "" for an overflow series: {spans, bytes}. */
  private static Map<String, List<Long>> sums(SealedWindow window) {
    assertThat(window.hasSizes()).isTrue();
    assertThat(window.stride()).isEqualTo(3);
    Map<String, List<Long>> sums = new TreeMap<>();
    for (int row = 0; row < window.rows(); row++) {
      int series = window.series()[row];
      SeriesDefinition definition =
          window.created().stream().filter(one -> one.series() == series).findFirst().orElseThrow();
      String name =
          definition.overflow()
              ? ""
              : definition.values().get(1) + (definition.isOfEvents() ? " events" : "");
      long[] counts = window.counts();
      sums.put(
          name, List.of(counts[3 * row] + counts[3 * row + 1], counts[3 * row + window.buckets()]));
    }
    return sums;
  }

  @Test
  void bytesOfSpansAndGroupsAddUp() {
    SealedWindow window =
        window(
            true,
            batch()
                .span("GET /", 5)
                .size(300)
                .grouped("GET /", BatchMessage.SERVER, BatchMessage.UNSET, 20_000_000, 0)
                .size(200)
                .grouped("GET /", BatchMessage.SERVER, BatchMessage.UNSET, 6, 0)
                .size(210)
                .span("PUT /", 5)
                .size(Integer.MAX_VALUE),
            batch().span("GET /", 7).size(1));

    assertThat(sums(window))
        .isEqualTo(Map.of("GET /", List.of(4L, 711L), "PUT /", List.of(1L, 1L << 24)));
  }

  @Test
  void sampledSpansCountTheirOwnBytesOnce() {
    SealedWindow window =
        window(
            true,
            batch()
                .span("GET /", BatchMessage.SERVER, BatchMessage.UNSET, 5, HALF)
                .size(100)
                .grouped("GET /", BatchMessage.SERVER, BatchMessage.UNSET, 6, HALF)
                .size(10));

    assertThat(sums(window)).isEqualTo(Map.of("GET /", List.of(4L, 110L)));
  }

  @Test
  void eventsHaveNoBytes() {
    SealedWindow window = window(true, batch().span("GET /", 5).size(100).event("retry"));

    assertThat(sums(window))
        .isEqualTo(Map.of("GET /", List.of(1L, 100L), "GET / events", List.of(1L, 0L)));
  }

  @Test
  void overflowSeriesHaveTheBytesOfTheirSpans() {
    BatchMessage batch = batch();
    for (int i = 0; i < 6; i++) {
      batch.span("operation " + "abcdef".charAt(i), 5).size(100 + i);
    }

    Map<String, List<Long>> sums = sums(window(true, batch));

    assertThat(sums.get("").getFirst()).isGreaterThan(1);
    assertThat(sums.values().stream().mapToLong(List::getLast).sum()).isEqualTo(615);
  }

  @Test
  void batchesWithoutSizesAddNone() {
    SealedWindow window = window(true, new BatchMessage("shop").span("GET /", 5));

    assertThat(sums(window)).isEqualTo(Map.of("GET /", List.of(1L, 0L)));
  }

  @Test
  void sizesAreIgnoredUnlessTheyAreKept() {
    SealedWindow window = window(false, batch().span("GET /", 5).size(100));

    assertThat(window.hasSizes()).isFalse();
    assertThat(window.counts()).containsExactly(1, 0);
  }

  @Test
  void seriesWithSizesDoNotAddUpWithOthers() {
    assertThat(window(true, batch().span("GET /", 5)).schema())
        .isNotEqualTo(window(false, batch().span("GET /", 5)).schema());
  }
}
