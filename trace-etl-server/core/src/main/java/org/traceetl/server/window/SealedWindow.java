package org.traceetl.server.window;

import java.util.List;

/**
 * The sums of one queue's spans between two offsets: the unit that the journal keeps and every sink
 * applies, once and in order. Immutable by contract: the arrays must not be modified after the
 * seal.
 *
 * <p>Deltas are rows. Row i belongs to series {@code series[i]} and has {@code counts[i * stride,
 * (i + 1) * stride)}: adjusted spans by bucket (not cumulative; the last one is +Inf), then the sum
 * of its spans' sizes in bytes, if the window has sizes. {@code durationNanos[i]} is the sum of its
 * durations. {@code exemplars[i]} is an index into {@code documents}, or -1.
 *
 * <p>Apply in this order: {@code created}, rows, {@code evicted}.
 *
 * @param from first offset of the window: always the {@code to} of the one before
 * @param to offset after its last one; below {@code from} if the topic was recreated
 * @param openedMillis when the window began, milliseconds since 1970
 * @param sealedMillis when it was swapped out
 * @param created series whose first span is in this window
 * @param evicted numbers of series that end with this window
 * @param stride numbers of a row in {@code counts}: its buckets, and its size if there are sizes
 * @param exemplarBuckets bucket of each row's exemplar
 * @param schema of the series, from {@code Aggregation}; windows of different schemas must not be
 *     added up
 * @param carries fraction of a span by which each row's series is below the exact sum after this
 *     window
 * @param batches names of the batches that count in it
 * @param natives native histograms of the rows; {@link NativeCounts#NONE} if not kept
 * @param panes what of the rows belongs to which pane; {@link WindowPanes#NONE} if not kept
 * @param completeness until when the queue's spans are complete; {@link WindowCompleteness#NONE} if
 *     that is unknown, and in a window without panes
 * @param closedMillis panes that end at or before this time, milliseconds since 1970, are closed:
 *     later windows have no spans of them, except late ones. It never goes down from a window to
 *     the next, and is a multiple of the panes' length unless that was changed. {@link
 *     #UNKNOWN_CLOSED} if it is unknown, and in a window without panes
 * @param hasSizes whether the last number of a row is the sum of its spans' sizes, not a bucket
 * @param edges what changed among the open half-edges; {@link EdgeChange#NONE} for a queue of
 *     spans, and in a window without panes
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
    NativeCounts natives,
    WindowPanes panes,
    WindowCompleteness completeness,
    long closedMillis,
    boolean hasSizes,
    EdgeChange edges) {
  /** The window does not contain until when panes are closed. */
  public static final long UNKNOWN_CLOSED = Long.MIN_VALUE;

  private static final long LONG_MILLIS = 60_000;

  /** Returns the number of buckets of a row, the first of its numbers in {@code counts}. */
  public int buckets() {
    return hasSizes ? stride - 1 : stride;
  }

  /**
   * Returns when its series count as touched, for their idle time: at the begin of the window, so
   * that the worker need not mark series at its end. For long windows, which are rare, it is the
   * end.
   */
  public long touchedMillis() {
    return isLong(openedMillis, sealedMillis) ? sealedMillis : openedMillis;
  }

  /** Returns whether series are touched at the end of such a window, not at its begin. */
  public static boolean isLong(long openedMillis, long sealedMillis) {
    return sealedMillis - openedMillis > LONG_MILLIS;
  }
}
