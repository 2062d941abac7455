package org.traceetl.server.ozhera.delta.series;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.SealedWindow;

/**
 * Sums of some windows of one queue by series. Immutable, so that an answer and the fold thread can
 * read it concurrently.
 */
public final class Deltas {
  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final int ROW_BITS = 24;

  public static final Deltas NONE =
      new Deltas(0, new DeltaSeries[0], new long[0], new long[0], new int[0], Map.of());

  private final int stride;

  /** Rising by id. */
  private final DeltaSeries[] series;

  /** By row, then bucket. */
  private final long[] counts;

  // In two parts: in nanoseconds a sum would overflow after 292 years of spans.
  private final long[] sumMillis;
  private final int[] sumNanos;

  /** Returns the spans received, without duplicates, by application. */
  private final Map<String, Long> received;

  private Deltas(
      int stride,
      DeltaSeries[] series,
      long[] counts,
      long[] sumMillis,
      int[] sumNanos,
      Map<String, Long> received) {
    this.stride = stride;
    this.series = series;
    this.counts = counts;
    this.sumMillis = sumMillis;
    this.sumNanos = sumNanos;
    this.received = received;
  }

  /**
   * Returns the deltas of a window.
   *
   * @param series series of each row; null for rows to leave out
   */
  static Deltas of(SealedWindow window, DeltaSeries[] series) {
    int stride = window.stride();
    long[] order = new long[series.length];
    int rows = 0;
    for (int row = 0; row < series.length; row++) {
      if (series[row] != null) {
        order[rows++] = series[row].id() << ROW_BITS | row;
      }
    }
    Arrays.sort(order, 0, rows);
    DeltaSeries[] sorted = new DeltaSeries[rows];
    long[] counts = new long[rows * stride];
    long[] sumMillis = new long[rows];
    int[] sumNanos = new int[rows];
    for (int to = 0; to < rows; to++) {
      int from = (int) (order[to] & (1 << ROW_BITS) - 1);
      sorted[to] = series[from];
      System.arraycopy(window.counts(), from * stride, counts, to * stride, stride);
      sumMillis[to] = window.durationNanos()[from] / NANOS_PER_MILLI;
      sumNanos[to] = (int) (window.durationNanos()[from] % NANOS_PER_MILLI);
    }
    Map<String, Long> received = new HashMap<>();
    for (Books books : window.books()) {
      long spans = books.received() - books.duplicate();
      if (spans > 0 && !books.application().isEmpty()) {
        received.merge(books.application(), spans, Long::sum);
      }
    }
    return new Deltas(stride, sorted, counts, sumMillis, sumNanos, received);
  }

  /** Returns the sum of both, which must belong to the same queue. */
  public Deltas plus(Deltas other) {
    if (isNone()) {
      return other;
    }
    if (other.isNone()) {
      return this;
    }
    int most = union(other, null);
    int width = Math.max(stride, other.stride);
    Deltas sum =
        new Deltas(
            width,
            new DeltaSeries[most],
            new long[most * width],
            new long[most],
            new int[most],
            new HashMap<>(received));
    union(other, sum);
    other.received.forEach(
        (application, spans) -> sum.received.merge(application, spans, Long::sum));
    return sum;
  }

  /**
   * Iterates over the rows of both.
   *
   * @param sum receives the rows; null to count only
   * @return number of series in either
   */
  private int union(Deltas other, Deltas sum) {
    int mine = 0;
    int its = 0;
    int to = 0;
    for (; mine < rows() || its < other.rows(); to++) {
      long myId = mine < rows() ? series[mine].id() : Long.MAX_VALUE;
      long itsId = its < other.rows() ? other.series[its].id() : Long.MAX_VALUE;
      if (sum != null && myId <= itsId) {
        sum.add(to, this, mine);
      }
      if (sum != null && itsId <= myId) {
        sum.add(to, other, its);
      }
      mine += myId <= itsId ? 1 : 0;
      its += itsId <= myId ? 1 : 0;
    }
    return to;
  }

  /** Adds a row during construction. */
  private void add(int to, Deltas from, int row) {
    series[to] = from.series[row];
    for (int bucket = 0; bucket < from.stride; bucket++) {
      counts[to * stride + bucket] += from.counts[row * from.stride + bucket];
    }
    int nanos = sumNanos[to] + from.sumNanos[row];
    sumMillis[to] += from.sumMillis[row] + nanos / NANOS_PER_MILLI;
    sumNanos[to] = nanos % NANOS_PER_MILLI;
  }

  /** Returns whether there are no rows and no received spans. */
  public boolean isNone() {
    return rows() == 0 && received.isEmpty();
  }

  /** Series in it. */
  public int rows() {
    return series.length;
  }

  /** Returns the number of buckets in a row, including +Inf. */
  int stride() {
    return stride;
  }

  DeltaSeries series(int row) {
    return series[row];
  }

  /** Returns the spans in a bucket, not cumulative. */
  long count(int row, int bucket) {
    return counts[row * stride + bucket];
  }

  /** Returns the sum of the durations in whole milliseconds. */
  long sumMillis(int row) {
    return sumMillis[row];
  }

  /** Returns the part of the sum below a millisecond, in nanoseconds. */
  int sumNanos(int row) {
    return sumNanos[row];
  }

  /** Returns the spans received, without duplicates, by application. */
  Map<String, Long> received() {
    return received;
  }
}
