package org.traceetl.server.window;

import java.util.List;

/**
 * What the spans of one queue between two offsets added up to: the unit that the journal keeps and
 * every sink applies, once and in order. Immutable by contract: nobody writes to the arrays after
 * the seal.
 *
 * <p>Deltas are rows: row i belongs to series {@code series[i]} and has {@code counts[i * stride,
 * (i + 1) * stride)}: adjusted spans by bucket (not cumulative; the last one is +Inf), stride =
 * number of finite bounds + 1. {@code durationNanos[i]} is the sum of its durations. {@code
 * exemplars[i]} is an index into {@code documents}, or -1.
 *
 * <p>Apply in this order: {@code created}, rows, {@code evicted}.
 *
 * @param from first offset of the window: the {@code to} of the one before, whatever happened
 * @param to offset after its last one; below {@code from} where the topic was made again
 * @param openedMillis when the window began, milliseconds since 1970
 * @param sealedMillis when it was swapped out
 * @param created series whose first span is in this window
 * @param evicted numbers of series that end with this window
 * @param exemplarBuckets bucket of each row's exemplar
 * @param schema of the series, as {@code Aggregation} makes it: windows of different ones do not
 *     add up
 * @param carries fraction of a span that each row's series is behind the exact sum after this
 *     window
 * @param batches names of the batches that count in it
 * @param natives native histograms of the rows; {@link NativeCounts#NONE} where none are kept
 */
public record SealedWindow(
    QueueId queue,
    long from,
    long to,
    long openedMillis,
    long sealedMillis,
    List<SeriesDefinition> created,
    int[] evicted,
    int rows,
    int stride,
    int[] series,
    long[] counts,
    long[] durationNanos,
    int[] exemplars,
    int[] exemplarBuckets,
    List<TraceDocument> documents,
    List<Books> books,
    long schema,
    long[] carries,
    AcceptedBatches batches,
    NativeCounts natives) {
  private static final long LONG_MILLIS = 60_000;

  /**
   * When its series were touched: for how long a series is idle counts from there. It is the begin
   * of the window, so that who ends one has no series to mark; of long ones, which are rare, the
   * end.
   */
  public long touchedMillis() {
    return isLong(openedMillis, sealedMillis) ? sealedMillis : openedMillis;
  }

  /** Whether series are touched at the end of such a window, and else at its begin. */
  public static boolean isLong(long openedMillis, long sealedMillis) {
    return sealedMillis - openedMillis > LONG_MILLIS;
  }
}
