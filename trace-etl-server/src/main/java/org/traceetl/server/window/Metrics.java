package org.traceetl.server.window;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.proto.Rejection;

/**
 * An open window of one queue: rows of numbers for the series touched in it, the documents kept,
 * and the books. Arrays stay from window to window; clearing costs what was touched.
 *
 * <p>Concurrency: owned by one thread at a time. A queue has two of these. The worker that owns the
 * queue writes to one of them; between two batches it may hand that one to the sealer and go on
 * with the other. The sealer reads, clears and gives back. Both hand-offs go through a queue or a
 * reference that orders memory; nothing here is volatile or locked.
 */
public final class Metrics {
  private static final int NO_EXEMPLAR = -1;

  private final int stride;
  private final int documentsPerSeries;
  private final int documentsPerWindow;
  private final int exemplarsPerWindow;

  /** By series: row + 1; 0 without a row. */
  private int[] rowOf = new int[64];

  private int[] seriesOf = new int[64];
  private long[] counts;
  private long[] durationNanos = new long[64];
  private int[] documentsOf = new int[64];
  private int[] exemplars = new int[64];
  private int[] exemplarBuckets = new int[64];
  private int rows;

  private List<TraceDocument> documents = new ArrayList<>();
  private int documentsLeft;
  private int exemplarsLeft;
  private final Ledger ledger = new Ledger();

  /**
   * @param stride buckets of a series
   * @param documentsPerSeries slow or failed spans kept of one series
   * @param documentsPerWindow slow or failed spans kept in all
   * @param exemplarsPerWindow ordinary spans kept in all
   */
  public Metrics(
      int stride, int documentsPerSeries, int documentsPerWindow, int exemplarsPerWindow) {
    this.stride = stride;
    this.documentsPerSeries = documentsPerSeries;
    this.documentsPerWindow = documentsPerWindow;
    this.exemplarsPerWindow = exemplarsPerWindow;
    counts = new long[64 * stride];
    documentsLeft = documentsPerWindow;
    exemplarsLeft = exemplarsPerWindow;
  }

  /** Row of a series, or -1 if it has none yet. */
  public int row(int series) {
    return series < rowOf.length ? rowOf[series] - 1 : -1;
  }

  /** Rows opened so far. */
  public int rows() {
    return rows;
  }

  /** The series that a row belongs to. */
  public int series(int row) {
    return seriesOf[row];
  }

  /** Opens a row for a series that has none. */
  public int open(int series) {
    if (series >= rowOf.length) {
      rowOf = Arrays.copyOf(rowOf, Math.max(series + 1, rowOf.length * 2));
    }
    if (rows == seriesOf.length) {
      grow(rows * 2);
    }
    int row = rows++;
    rowOf[series] = row + 1;
    seriesOf[row] = series;
    exemplars[row] = NO_EXEMPLAR;
    return row;
  }

  private void grow(int capacity) {
    seriesOf = Arrays.copyOf(seriesOf, capacity);
    counts = Arrays.copyOf(counts, capacity * stride);
    durationNanos = Arrays.copyOf(durationNanos, capacity);
    documentsOf = Arrays.copyOf(documentsOf, capacity);
    exemplars = Arrays.copyOf(exemplars, capacity);
    exemplarBuckets = Arrays.copyOf(exemplarBuckets, capacity);
  }

  /**
   * Adds a span. The sum of durations saturates.
   *
   * @param weight how many spans it stands for
   * @param weightedNanos its duration times its weight, at least 0
   */
  public void add(int row, int bucket, long weight, long weightedNanos) {
    counts[row * stride + bucket] += weight;
    long sum = durationNanos[row] + weightedNanos;
    durationNanos[row] = sum < 0 ? Long.MAX_VALUE : sum;
  }

  /** Whether a slow or failed span of this row may still be kept. */
  public boolean admitsDocument(int row) {
    return documentsLeft > 0 && documentsOf[row] < documentsPerSeries;
  }

  /** Keeps a slow or failed span; the last one is its row's exemplar. */
  public void keepDocument(int row, int bucket, TraceDocument document) {
    documentsLeft--;
    documentsOf[row]++;
    keep(row, bucket, document);
  }

  /** Whether an ordinary span of this row is wanted as its exemplar. */
  public boolean wantsExemplar(int row) {
    return exemplarsLeft > 0 && exemplars[row] == NO_EXEMPLAR;
  }

  /** Keeps an ordinary span as the exemplar of a row that wants one. */
  public void keepExemplar(int row, int bucket, TraceDocument document) {
    exemplarsLeft--;
    keep(row, bucket, document);
  }

  /** An exemplar is an index into the documents: its trace is a document by construction. */
  private void keep(int row, int bucket, TraceDocument document) {
    int previous = exemplars[row];
    if (previous != NO_EXEMPLAR
        && documents.get(previous).reason() == TraceDocument.Reason.EXEMPLAR) {
      // Nothing points at the ordinary span any more: the better one takes its place.
      documents.set(previous, document);
    } else {
      exemplars[row] = documents.size();
      documents.add(document);
    }
    exemplarBuckets[row] = bucket;
  }

  /** Opens the books of an application, unless they are open. Needed before any count. */
  public void openBooks(int application, String name) {
    ledger.open(application, name);
  }

  /** Books what became of the spans of one batch. */
  public void book(
      int application, long received, long recorded, long overflowed, long filtered, long held) {
    ledger.add(application, Ledger.RECEIVED, received);
    ledger.add(application, Ledger.RECORDED, recorded);
    ledger.add(application, Ledger.OVERFLOWED, overflowed);
    ledger.add(application, Ledger.FILTERED, filtered);
    ledger.add(application, Ledger.HELD_BACK, held);
  }

  /** Books the spans of a batch seen before. */
  public void bookDuplicate(int application, long spans) {
    ledger.add(application, Ledger.RECEIVED, spans);
    ledger.add(application, Ledger.DUPLICATE, spans);
  }

  /** Books spans that were refused, as a reason and, unless they are booked, as received. */
  public void bookRejected(int application, Rejection reason, long spans, boolean asReceived) {
    if (asReceived) {
      ledger.add(application, Ledger.RECEIVED, spans);
    }
    ledger.addRejected(application, reason, spans);
  }

  /** Whether nothing was recorded or booked. */
  public boolean isEmpty() {
    return rows == 0 && ledger.isEmpty();
  }

  /** The window as it will be kept: arrays of its own, cut to size. */
  public SealedWindow seal(
      QueueId queue,
      long from,
      long to,
      long openedMillis,
      long sealedMillis,
      List<SeriesDefinition> created,
      int[] evicted,
      long schema,
      long[] carries,
      AcceptedBatches batches) {
    return new SealedWindow(
        queue,
        from,
        to,
        openedMillis,
        sealedMillis,
        created,
        evicted,
        rows,
        stride,
        Arrays.copyOf(seriesOf, rows),
        Arrays.copyOf(counts, rows * stride),
        Arrays.copyOf(durationNanos, rows),
        Arrays.copyOf(exemplars, rows),
        Arrays.copyOf(exemplarBuckets, rows),
        List.copyOf(documents),
        ledger.books(),
        schema,
        carries,
        batches);
  }

  /** Makes it an empty window. */
  public void clear() {
    for (int row = 0; row < rows; row++) {
      rowOf[seriesOf[row]] = 0;
    }
    Arrays.fill(counts, 0, rows * stride, 0);
    Arrays.fill(durationNanos, 0, rows, 0);
    Arrays.fill(documentsOf, 0, rows, 0);
    rows = 0;
    documents = new ArrayList<>();
    documentsLeft = documentsPerWindow;
    exemplarsLeft = exemplarsPerWindow;
    ledger.clear();
  }
}
