package org.traceetl.server.window;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.proto.Rejection;

/**
 * An open window of one queue: rows of numbers for its series, its documents and its books. Memory
 * is reused for each window; clearing takes time in proportion to its use.
 *
 * <p>Concurrency: owned by one thread at a time. A queue has two of these. The worker that owns the
 * queue writes to one of them; between two batches it may pass that one to the sealer and continue
 * with the other. The sealer reads, clears and returns it. Both transfers use a queue or a
 * reference that orders memory; nothing here is volatile or locked. While the worker has both, the
 * open one can take blocks of the empty one ({@link #makeRoom}), so both need little more memory
 * than one window.
 */
public final class WindowMetrics {
  private final int stride;
  private final int documentsPerSeries;
  private final int documentsPerWindow;
  private final int exemplarsPerWindow;

  private final WindowRows rows;
  private List<TraceDocument> documents = new ArrayList<>();
  private int documentsLeft;
  private int exemplarsLeft;
  private final Ledger ledger = new Ledger();

  /**
   * @param stride buckets of a series
   * @param documentsPerSeries maximum number of slow or failed spans of one series
   * @param documentsPerWindow maximum number of slow or failed spans
   * @param exemplarsPerWindow maximum number of ordinary spans
   * @param hasNative whether there are native histograms as well
   */
  public WindowMetrics(
      int stride,
      int documentsPerSeries,
      int documentsPerWindow,
      int exemplarsPerWindow,
      boolean hasNative) {
    this.stride = stride;
    this.documentsPerSeries = documentsPerSeries;
    this.documentsPerWindow = documentsPerWindow;
    this.exemplarsPerWindow = exemplarsPerWindow;
    rows = new WindowRows(stride, hasNative);
    documentsLeft = documentsPerWindow;
    exemplarsLeft = exemplarsPerWindow;
  }

  /** Returns the rows. */
  public WindowRows rows() {
    return rows;
  }

  /** Takes a block for the rows from an empty window of the same queue, if it has one. */
  public void makeRoom(WindowMetrics empty) {
    rows.takeBlock(empty.rows);
  }

  /** Returns the spans of a series as {@link WindowRows#spans} does, or -1 if it has no row. */
  public long spansOf(int series) {
    int row = rows.row(series);
    return row < 0 ? -1 : rows.spans(row);
  }

  /** Returns whether another slow or failed span of a row may be kept. */
  public boolean admitsDocument(WindowRows of, int row) {
    if (documentsLeft <= 0) {
      return false;
    }
    int number = of.extras(row);
    int kept = number < 0 ? 0 : of.extras().documents(number);
    return kept < documentsPerSeries;
  }

  /** Keeps a slow or failed span; the latest one is its row's exemplar. */
  public void keepDocument(WindowRows of, int row, int bucket, TraceDocument document) {
    documentsLeft--;
    int number = of.openExtras(row);
    of.extras().addDocument(number);
    keep(of.extras(), number, bucket, document);
  }

  /** Returns whether a row needs an ordinary span as its exemplar. */
  public boolean wantsExemplar(WindowRows of, int row) {
    if (exemplarsLeft <= 0) {
      return false;
    }
    int number = of.extras(row);
    return number < 0 || of.extras().exemplar(number) == RowExtras.NO_EXEMPLAR;
  }

  /** Keeps an ordinary span as the exemplar of a row that needs one. */
  public void keepExemplar(WindowRows of, int row, int bucket, TraceDocument document) {
    exemplarsLeft--;
    keep(of.extras(), of.openExtras(row), bucket, document);
  }

  /** Keeps a document as exemplar. Exemplars are indexes into the documents, so each has one. */
  private void keep(RowExtras extras, int number, int bucket, TraceDocument document) {
    int previous = extras.exemplar(number);
    if (previous != RowExtras.NO_EXEMPLAR
        && documents.get(previous).reason() == TraceDocument.Reason.EXEMPLAR) {
      // The ordinary span is no longer referenced, so the new document replaces it.
      documents.set(previous, document);
      extras.exemplar(number, previous, bucket);
    } else {
      extras.exemplar(number, documents.size(), bucket);
      documents.add(document);
    }
  }

  /** Opens the books of an application if they are not open. Required before any count. */
  public void openBooks(int application, String name) {
    ledger.open(application, name);
  }

  /** Books the outcomes of the spans of one batch. */
  public void book(
      int application, long received, long recorded, long overflowed, long filtered, long held) {
    ledger.add(application, Ledger.RECEIVED, received);
    ledger.add(application, Ledger.RECORDED, recorded);
    ledger.add(application, Ledger.OVERFLOWED, overflowed);
    ledger.add(application, Ledger.FILTERED, filtered);
    ledger.add(application, Ledger.HELD_BACK, held);
  }

  /** Books the spans of a duplicate batch. */
  public void bookDuplicate(int application, long spans) {
    ledger.add(application, Ledger.RECEIVED, spans);
    ledger.add(application, Ledger.DUPLICATE, spans);
  }

  /** Books rejected spans by reason, and as received unless they already are. */
  public void bookRejected(int application, Rejection reason, long spans, boolean asReceived) {
    if (asReceived) {
      ledger.add(application, Ledger.RECEIVED, spans);
    }
    ledger.addRejected(application, reason, spans);
  }

  /** Returns whether nothing was recorded or booked. */
  public boolean isEmpty() {
    return rows.size() == 0 && ledger.isEmpty();
  }

  /** Returns the sealed window, with new arrays cut to size. */
  public SealedWindow seal(
      QueueId queue,
      long from,
      long to,
      long openedMillis,
      long sealedMillis,
      List<SeriesDefinition> created,
      int[] evicted,
      long schema,
      AcceptedBatches batches) {
    int size = rows.size();
    int[] series = new int[size];
    long[] counts = new long[size * stride];
    long[] durationNanos = new long[size];
    int[] exemplars = new int[size];
    int[] exemplarBuckets = new int[size];
    long[] carries = new long[size];
    for (int row = 0; row < size; row++) {
      series[row] = rows.series(row);
      durationNanos[row] = rows.durationNanos(row);
      rows.counts(row, counts, row * stride);
      exemplars[row] = RowExtras.NO_EXEMPLAR;
      int number = rows.extras(row);
      if (number >= 0) {
        exemplars[row] = rows.extras().exemplar(number);
        exemplarBuckets[row] = rows.extras().exemplarBucket(number);
        carries[row] = rows.extras().carry(number);
      }
    }
    return new SealedWindow(
        queue,
        from,
        to,
        openedMillis,
        sealedMillis,
        created,
        evicted,
        size,
        stride,
        series,
        counts,
        durationNanos,
        exemplars,
        exemplarBuckets,
        List.copyOf(documents),
        ledger.books(),
        schema,
        carries,
        batches,
        rows.sealNatives());
  }

  /** Clears the window. */
  public void clear() {
    rows.clear();
    documents = new ArrayList<>();
    documentsLeft = documentsPerWindow;
    exemplarsLeft = exemplarsPerWindow;
    ledger.clear();
  }
}
