package org.traceetl.server.window;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class WindowMetricsTest {
  private static final int STRIDE = 3;

  /** Passes consecutive windows through two objects, as a queue does. */
  @Property(tries = 50)
  void eachWindowHasWhatWasAddedToIt(@ForAll long seed) {
    Random random = new Random(seed);
    boolean hasSizes = random.nextBoolean();
    int buckets = hasSizes ? STRIDE - 1 : STRIDE;
    WindowMetrics open = new WindowMetrics(STRIDE, 1, 10, 10, false, hasSizes);
    WindowMetrics spare = new WindowMetrics(STRIDE, 1, 10, 10, false, hasSizes);
    for (int window = 0; window < 4; window++) {
      Map<Integer, long[]> model = new TreeMap<>();
      int spans = random.nextInt(3_000);
      for (int span = 0; span < spans; span++) {
        int series = random.nextInt(2_000);
        int bucket = random.nextInt(buckets);
        int weight = random.nextInt(10) == 0 ? Integer.MAX_VALUE : random.nextInt(5);
        WindowRows rows = open.pane(0);
        int row = rows.row(series);
        if (row < 0) {
          if (rows.isFull() && random.nextBoolean()) {
            open.makeRoom(rows, spare);
          }
          row = rows.open(series);
        }
        rows.add(row, bucket, weight, 7);
        long[] sums = model.computeIfAbsent(series, s -> new long[STRIDE + 2]);
        sums[bucket] += weight;
        sums[STRIDE] += 7;
        if (hasSizes) {
          long bytes = random.nextLong(1L << random.nextInt(1, 40));
          rows.addSize(row, bytes);
          sums[buckets] += bytes;
        }
        if (random.nextInt(20) == 0) {
          sums[STRIDE + 1] = random.nextLong(1L << 40);
          rows.carry(row, sums[STRIDE + 1]);
        }
      }
      for (Map.Entry<Integer, long[]> sums : model.entrySet()) {
        assertThat(open.spansOf(sums.getKey()))
            .isEqualTo(Arrays.stream(sums.getValue(), 0, buckets).sum());
      }
      assertHolds(seal(open), model);
      open.clear();
      WindowMetrics filled = open;
      open = spare;
      spare = filled;
    }
  }

  private static void assertHolds(SealedWindow window, Map<Integer, long[]> model) {
    assertThat(window.series()).doesNotHaveDuplicates().hasSize(model.size());
    for (int row = 0; row < window.rows(); row++) {
      long[] sums = Arrays.copyOfRange(window.counts(), row * STRIDE, (row + 1) * STRIDE + 2);
      sums[STRIDE] = window.durationNanos()[row];
      sums[STRIDE + 1] = window.carries()[row];
      assertThat(sums).isEqualTo(model.get(window.series()[row]));
    }
  }

  @Test
  void aRowIsOneOfTheSeriesItWasOpenedFor() {
    WindowMetrics metrics = metrics();
    WindowRows rows = metrics.pane(0);
    int last = (1 << 24) - 1;

    assertThat(rows.row(last)).isNegative();
    int row = rows.open(last);

    assertThat(rows.row(last)).isEqualTo(row);
    assertThat(rows.row(last - 1)).isNegative();
    metrics.clear();
    assertThat(rows.row(last)).isNegative();
  }

  @Test
  void anEmptyWindowGivesItsBlocksToTheOpenOne() {
    WindowMetrics filled = metrics();
    for (int series = 0; series < 1_000; series++) {
      filled.pane(0).add(filled.pane(0).open(series), 0, 1, 1);
    }
    filled.clear();
    WindowMetrics open = metrics();
    WindowRows rows = open.pane(0);
    int taken = 0;
    while (true) {
      open.makeRoom(rows, filled);
      if (rows.isFull()) {
        break;
      }
      while (!rows.isFull()) {
        int row = rows.open(taken++);
        rows.add(row, 1, 2, 3);
      }
    }

    assertThat(taken).isEqualTo(1_024);
    SealedWindow window = seal(open);
    for (int row = 0; row < taken; row++) {
      assertThat(Arrays.copyOfRange(window.counts(), row * STRIDE, (row + 1) * STRIDE))
          .containsExactly(0, 2, 0);
      assertThat(window.durationNanos()[row]).isEqualTo(3);
    }
  }

  /** Also in panes that are merged; the main pane has what the others leave. */
  @Test
  void countsSaturateSoThatNoSumOverflows() {
    WindowMetrics metrics = metrics();
    for (int pane = 0; pane < 2 * WindowMetrics.MAX_PANES; pane++) {
      WindowRows rows = metrics.pane(pane * 15_000L);
      int row = rows.row(0) < 0 ? rows.open(0) : rows.row(0);
      for (int i = 0; i < 1 << 15; i++) {
        rows.add(row, 0, WindowRows.MAX_COUNT, 1);
      }
      assertThat(metrics.spansOf(0)).isGreaterThanOrEqualTo(WindowRows.MAX_COUNT);
    }
    SealedWindow window = seal(metrics, 15_000);

    long most = WindowRows.MAX_COUNT + Integer.MAX_VALUE;
    assertThat(window.panes().others())
        .hasSize(WindowMetrics.MAX_PANES - 1)
        .allSatisfy(pane -> assertThat(pane.counts()[0]).isBetween(WindowRows.MAX_COUNT, most));
    assertThat(window.panes().main(window).counts()[0]).isBetween(WindowRows.MAX_COUNT, most);
  }

  @Test
  void theSumOfDurationsSaturates() {
    WindowMetrics metrics = metrics();
    WindowRows rows = metrics.pane(0);
    int row = rows.open(0);
    rows.add(row, 0, 1, Long.MAX_VALUE - 1);
    rows.add(row, 0, 1, 5);

    assertThat(seal(metrics).durationNanos()).containsExactly(Long.MAX_VALUE);
  }

  @Test
  void anEmptyWindowGivesItsNativeBlocksToo() {
    int rows = 1_000;
    WindowMetrics filled = new WindowMetrics(STRIDE, 1, 10, 10, true, false);
    for (int series = 0; series < rows; series++) {
      filled.pane(0).addNative(filled.pane(0).open(series), 7, 1);
    }
    filled.clear();
    WindowMetrics open = new WindowMetrics(STRIDE, 1, 10, 10, true, false);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int series = 0; series < rows; series++) {
      if (open.pane(0).isFull()) {
        open.makeRoom(open.pane(0), filled);
      }
      open.pane(0).addNative(open.pane(0).open(series), 9, 2);
    }

    // Less than one block is allocated: only the map of series to rows.
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(16 << 10);
    NativeCounts counts = seal(open).natives();
    for (int row = 0; row < rows; row++) {
      assertThat(counts.end(row) - counts.begin(row)).isEqualTo(1);
      assertThat(counts.buckets()[counts.begin(row)]).isEqualTo(9);
      assertThat(counts.counts()[counts.begin(row)]).isEqualTo(2);
    }
    // The other window still works without these blocks.
    filled.pane(0).addNative(filled.pane(0).open(0), 5, 1);
    assertThat(seal(filled).natives().counts()).containsExactly(1);
  }

  @Test
  void noneOfASeriesIsKeptIfNoneIsToBe() {
    WindowMetrics none = new WindowMetrics(STRIDE, 0, 10, 10, false, false);
    WindowMetrics one = new WindowMetrics(STRIDE, 1, 10, 10, false, false);

    assertThat(none.admitsDocument(none.pane(0), none.pane(0).open(0))).isFalse();
    assertThat(one.admitsDocument(one.pane(0), one.pane(0).open(0))).isTrue();
  }

  private static WindowMetrics metrics() {
    return new WindowMetrics(STRIDE, 1, 10, 10, false, false);
  }

  private static SealedWindow seal(WindowMetrics metrics) {
    return seal(metrics, 0);
  }

  private static SealedWindow seal(WindowMetrics metrics, long paneMillis) {
    return metrics.seal(
        new QueueId("b", 0),
        0,
        1,
        0,
        1,
        List.of(),
        new int[0],
        1,
        paneMillis,
        AcceptedBatches.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        EdgeChange.NONE);
  }
}
