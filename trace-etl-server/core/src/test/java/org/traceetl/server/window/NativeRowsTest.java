package org.traceetl.server.window;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Tests that adding to rows, sealing and summing equals a map of maps. */
class NativeRowsTest {
  private static final int MAX_SPANS = 1 << 25;

  private static List<Map<Integer, Long>> rows(int rows) {
    List<Map<Integer, Long>> model = new ArrayList<>();
    for (int row = 0; row < rows; row++) {
      model.add(new TreeMap<>());
    }
    return model;
  }

  private static NativeRows opened(int rows) {
    NativeRows natives = new NativeRows();
    for (int row = 0; row < rows; row++) {
      natives.open(row);
    }
    return natives;
  }

  private static void fill(
      NativeRows natives, List<Map<Integer, Long>> model, int spans, Random random) {
    int spread = random.nextInt(1, random.nextBoolean() ? 100 : NativeBuckets.MAX_COUNT);
    for (int i = 0; i < spans; i++) {
      int row = random.nextInt(model.size());
      int bucket = (row * 31 + random.nextInt(spread)) % NativeBuckets.MAX_COUNT;
      int weight = random.nextInt(10) == 0 ? random.nextInt(MAX_SPANS + 1) : 1;
      natives.add(row, bucket, weight);
      if (weight > 0) {
        model.get(row).merge(bucket, (long) weight, Long::sum);
      }
    }
  }

  private static Map<Integer, Long> row(NativeCounts sealed, int row) {
    Map<Integer, Long> read = new TreeMap<>();
    for (int i = sealed.begin(row); i < sealed.end(row); i++) {
      assertThat(i == sealed.begin(row) || sealed.buckets()[i - 1] < sealed.buckets()[i]).isTrue();
      read.put(sealed.buckets()[i], sealed.counts()[i]);
    }
    return read;
  }

  private static Map<Integer, Long> row(NativeTotals totals, int row) {
    Map<Integer, Long> read = new TreeMap<>();
    for (int i = 0; i < totals.size(row); i++) {
      read.put(totals.bucket(row, i), totals.count(row, i));
    }
    assertThat(read).hasSize(totals.size(row));
    return read;
  }

  private static long sum(Map<Integer, Long> row) {
    return row.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns a window of one row with a span in each of these buckets. */
  private static NativeCounts window(int... buckets) {
    NativeCounts.Builder window = new NativeCounts.Builder(1);
    for (int bucket : buckets) {
      window.add(bucket, 1);
    }
    window.endRow();
    return window.build();
  }

  @Property(tries = 200)
  void windowsAddUp(@ForAll @IntRange(min = 1, max = 50) int rows, @ForAll long seed) {
    Random random = new Random(seed);
    NativeRows natives = new NativeRows();
    NativeTotals totals = new NativeTotals();
    List<Map<Integer, Long>> allTotals = rows(rows);
    for (int window = 0; window < 4; window++) {
      List<Map<Integer, Long>> model = rows(rows);
      for (int row = 0; row < rows; row++) {
        natives.open(row);
      }
      fill(natives, model, random.nextInt(3_000), random);
      NativeCounts sealed = natives.seal(rows);
      natives.clear(rows);
      for (int row = 0; row < rows; row++) {
        assertThat(row(sealed, row)).isEqualTo(model.get(row));
        totals.add(row, sealed, row);
        Map<Integer, Long> all = allTotals.get(row);
        model.get(row).forEach((bucket, spans) -> all.merge(bucket, spans, Long::sum));
        if (all.size() <= NativeTotals.MAX_BUCKETS) {
          assertThat(row(totals, row)).isEqualTo(all);
        } else {
          assertThat(totals.size(row)).isEqualTo(NativeTotals.MAX_BUCKETS);
          assertThat(all.keySet()).containsAll(row(totals, row).keySet());
          assertThat(sum(row(totals, row))).isEqualTo(sum(all));
        }
      }
    }
  }

  @Test
  void countsBeyondACellAreKept() {
    NativeRows natives = opened(2);
    for (int i = 0; i < 1_000; i++) {
      natives.add(1, 7, MAX_SPANS);
    }

    assertThat(row(natives.seal(2), 1)).isEqualTo(Map.of(7, 1_000L * MAX_SPANS));
  }

  @Test
  void anEventOfManySampledSpansIsCountedInFull() {
    long group = 65_536L << 20;
    NativeRows natives = opened(2);
    natives.add(0, 7, 1);
    natives.add(0, 7, group);
    natives.add(0, 4_000, group);
    NativeCounts sealed = natives.seal(2);

    assertThat(row(sealed, 0)).isEqualTo(Map.of(7, group + 1, 4_000, group));
    assertThat(row(sealed, 1)).isEmpty();
  }

  @Test
  void aTableThatWasFullOnceIsSmallAgainLater() {
    NativeCells cells = new NativeCells();
    int small = cells.capacity();
    for (int row = 0; row < 100_000; row++) {
      cells.add(row, 1, 1);
    }
    int large = cells.capacity();
    cells.clear();
    assertThat(cells.capacity()).isEqualTo(large);
    for (int window = 0; window < 20; window++) {
      for (int row = 0; row < 10; row++) {
        cells.add(row, 2, 3);
      }
      assertThat(row(cells.seal(10), 9)).isEqualTo(Map.of(2, 3L));
      cells.clear();
    }

    assertThat(large).isGreaterThan(100_000);
    assertThat(cells.capacity()).isEqualTo(small);
  }

  @Test
  void theGreatestRowIsKeptApart() {
    int rows = 1 << 24;
    NativeCells natives = new NativeCells();
    natives.add(rows - 1, NativeBuckets.MAX_COUNT - 1, 3);
    natives.add(0, 0, 2);
    NativeCounts sealed = natives.seal(rows);

    assertThat(row(sealed, 0)).isEqualTo(Map.of(0, 2L));
    assertThat(row(sealed, 1)).isEmpty();
    assertThat(row(sealed, rows - 1)).isEqualTo(Map.of(NativeBuckets.MAX_COUNT - 1, 3L));
  }

  @Test
  void anEmptyWindowHasNone() {
    NativeRows natives = opened(3);
    natives.add(0, 5, 0);

    assertThat(natives.seal(3).isEmpty()).isTrue();
    assertThat(row(NativeCounts.NONE, 2)).isEmpty();
    assertThat(row(new NativeTotals(), 2)).isEmpty();
  }

  @Test
  void aRowMovesWithItsBuckets() {
    NativeCounts.Builder window = new NativeCounts.Builder(1);
    window.add(4, 40);
    window.endRow();
    NativeTotals totals = new NativeTotals();
    totals.add(9, window.build(), 0);
    totals.move(9, 2);

    assertThat(row(totals, 2)).isEqualTo(Map.of(4, 40L));
    assertThat(row(totals, 9)).isEmpty();

    totals.move(9, 2);
    assertThat(row(totals, 2)).isEmpty();
  }

  @Test
  void aRowThatIsFullCountsInTheNearestBucket() {
    NativeTotals totals = new NativeTotals();
    int step = 10;
    int last = NativeTotals.MAX_BUCKETS * step;
    totals.add(
        0,
        window(IntStream.rangeClosed(1, NativeTotals.MAX_BUCKETS).map(i -> i * step).toArray()),
        0);
    assertThat(totals.size(0)).isEqualTo(NativeTotals.MAX_BUCKETS);

    totals.add(0, window(0, step, step + 4, step + 5, step + 6, last + 1, last + 2_000), 0);

    Map<Integer, Long> row = row(totals, 0);
    assertThat(row).hasSize(NativeTotals.MAX_BUCKETS);
    assertThat(row).containsEntry(step, 5L).containsEntry(2 * step, 2L).containsEntry(last, 3L);
    assertThat(sum(row)).isEqualTo(NativeTotals.MAX_BUCKETS + 7L);
  }

  @Test
  void aWindowOfTooManyBucketsIsThinnedEvenly() {
    NativeTotals totals = new NativeTotals();
    totals.add(0, window(IntStream.range(0, NativeTotals.MAX_BUCKETS * 4).toArray()), 0);

    Map<Integer, Long> row = row(totals, 0);
    assertThat(row.keySet())
        .containsExactlyElementsOf(
            IntStream.range(0, NativeTotals.MAX_BUCKETS).map(i -> i * 4 + 3).boxed().toList());
    assertThat(row).containsEntry(3, 6L).containsEntry(7, 4L);
    assertThat(sum(row)).isEqualTo(NativeTotals.MAX_BUCKETS * 4L);
  }
}
