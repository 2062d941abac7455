package org.traceetl.server.window;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.proto.Rejection;

/**
 * An open window of one queue: rows of numbers for its series by pane, its documents and its books.
 * Memory is reused for each window; clearing takes time in proportion to its use.
 *
 * <p>The number of panes and their memory are bounded. Beyond a bound, the two oldest panes are
 * merged into the newer of them, and batches of older panes count in the oldest one.
 *
 * <p>Concurrency: owned by one thread at a time. A queue has two of these. The worker that owns the
 * queue writes to one of them; between two batches it may pass that one to the sealer and continue
 * with the other. The sealer reads, clears and returns it. Both transfers use a queue or a
 * reference that orders memory; nothing here is volatile or locked. While the worker has both, the
 * open one can take blocks of the empty one ({@link #makeRoom}), so both need little more memory
 * than one window.
 */
public final class WindowMetrics {
  static final int MAX_PANES = 64;

  /** Panes whose memory is kept for the next window. */
  private static final int KEPT_PANES = 2;

  /** Rows that all panes may have beyond twice those of the largest one. */
  private static final int MORE_ROWS = 32_768;

  private final int stride;
  private final int documentsPerSeries;
  private final int documentsPerWindow;
  private final int exemplarsPerWindow;

  private final boolean hasNative;
  private final boolean hasSizes;

  /** Ascending by begin. */
  private final WindowRows[] panes = new WindowRows[MAX_PANES];

  private int paneCount;

  /** Rows without use, the memory of which is kept. */
  private final WindowRows[] unused = new WindowRows[KEPT_PANES];

  private int unusedCount;

  /** The pane in which spans are counted now; null before the first. */
  private WindowRows current;

  /** Whether the batch's own pane is older than {@link #current}. */
  private boolean isLate;

  /** Number of times that {@link #current} was chosen. */
  private int turn;

  private boolean isMerged;
  private long mergedSpans;

  private List<TraceDocument> documents = new ArrayList<>();

  /** What each document stands for; null for ordinary spans. */
  private final List<RowExtras.Remarkable> remarkable = new ArrayList<>();

  private int documentsLeft;
  private int exemplarsLeft;
  private final Ledger ledger = new Ledger();

  /**
   * @param stride buckets of a series, and its size if sizes are kept
   * @param documentsPerSeries maximum number of slow or failed spans of one series
   * @param documentsPerWindow maximum number of slow or failed spans
   * @param exemplarsPerWindow maximum number of ordinary spans
   * @param hasNative whether there are native histograms as well
   * @param hasSizes whether sizes are kept
   */
  public WindowMetrics(
      int stride,
      int documentsPerSeries,
      int documentsPerWindow,
      int exemplarsPerWindow,
      boolean hasNative,
      boolean hasSizes) {
    this.stride = stride;
    this.documentsPerSeries = documentsPerSeries;
    this.documentsPerWindow = documentsPerWindow;
    this.exemplarsPerWindow = exemplarsPerWindow;
    this.hasNative = hasNative;
    this.hasSizes = hasSizes;
    documentsLeft = documentsPerWindow;
    exemplarsLeft = exemplarsPerWindow;
  }

  /**
   * Returns the rows of a pane; the next spans are added to them. Rows of other panes must not be
   * changed until they are returned again.
   *
   * @param startMillis the pane's begin, milliseconds since 1970
   */
  public WindowRows pane(long startMillis) {
    while (paneCount > 2 && bytes() > maxBytes()) {
      mergeOldest();
    }
    int at = panesBefore(startMillis);
    boolean isOpen = at < paneCount && panes[at].startMillis() == startMillis;
    if (!isOpen && paneCount == MAX_PANES && at > 0) {
      mergeOldest();
      at--;
    }
    isLate = !isOpen && at == 0 && (isMerged || paneCount == MAX_PANES);
    if (!isOpen && !isLate) {
      insert(at, startMillis);
    }
    current = panes[at];
    current.turn(++turn);
    return current;
  }

  private int panesBefore(long startMillis) {
    int count = paneCount;
    while (count > 0 && panes[count - 1].startMillis() >= startMillis) {
      count--;
    }
    return count;
  }

  private void insert(int at, long startMillis) {
    WindowRows rows =
        unusedCount > 0 ? unused[--unusedCount] : new WindowRows(stride, hasNative, hasSizes);
    rows.begin(startMillis);
    System.arraycopy(panes, at, panes, at + 1, paneCount - at);
    panes[at] = rows;
    paneCount++;
  }

  /** Merges the two oldest panes; the fewer rows are added to the others. */
  private void mergeOldest() {
    WindowRows older = panes[0];
    WindowRows newer = panes[1];
    isMerged = true;
    mergedSpans += older.ownSpans();
    long startMillis = newer.startMillis();
    long spans = newer.ownSpans();
    boolean addsNewer = newer.size() < older.size();
    WindowRows merged = addsNewer ? older : newer;
    WindowRows added = addsNewer ? newer : older;
    merged.addAll(added, added.sealNatives(), addsNewer, WindowRows.MAX_COUNT);
    merged.begin(startMillis);
    merged.addOwnSpans(spans);
    paneCount--;
    System.arraycopy(panes, 1, panes, 0, paneCount);
    panes[paneCount] = null;
    panes[0] = merged;
    keep(added);
  }

  /** Clears rows and keeps their memory, unless others have more. */
  private void keep(WindowRows rows) {
    int at = unusedCount;
    if (unusedCount == KEPT_PANES) {
      at = unused[0].blocks() < unused[1].blocks() ? 0 : 1;
      if (rows.blocks() <= unused[at].blocks()) {
        return;
      }
    } else {
      unusedCount++;
    }
    rows.clear();
    unused[at] = rows;
  }

  private long bytes() {
    long bytes = 0;
    for (int i = 0; i < paneCount; i++) {
      bytes += panes[i].bytes();
    }
    return bytes;
  }

  private long maxBytes() {
    long largest = 0;
    for (int i = 0; i < paneCount; i++) {
      largest = Math.max(largest, panes[i].bytes());
    }
    return 2 * largest + MORE_ROWS * panes[0].rowBytes();
  }

  /** Returns whether the panes are above half of their bound of memory. */
  public boolean isCrowded() {
    return paneCount > 2 && bytes() > maxBytes() / 2;
  }

  /** Returns the number of panes. */
  public int panes() {
    return paneCount;
  }

  /** Returns the rows of a pane by its number, ascending by begin. */
  public WindowRows rows(int pane) {
    return panes[pane];
  }

  /** Returns the number of rows of all panes. */
  public long rows() {
    long rows = 0;
    for (int i = 0; i < paneCount; i++) {
      rows += panes[i].size();
    }
    return rows;
  }

  /** Returns the spans that count in a pane later than their own. */
  public long mergedSpans() {
    return mergedSpans;
  }

  /** Counts the spans of a batch that were added to the current pane, each once. */
  public void countSpans(long spans) {
    if (isLate) {
      mergedSpans += spans;
    } else {
      current.addOwnSpans(spans);
    }
  }

  /**
   * Takes a block for rows of this window from rows without use, of this window or of an empty one
   * of the same queue.
   *
   * @param empty null for none
   */
  public void makeRoom(WindowRows rows, WindowMetrics empty) {
    if (!takeBlock(rows) && empty != null) {
      empty.takeBlock(rows);
    }
  }

  private boolean takeBlock(WindowRows to) {
    for (int i = 0; i < unusedCount; i++) {
      if (to.takeBlock(unused[i])) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the spans of a series in all panes as {@link WindowRows#spans} does, or -1 if it has no
   * row.
   */
  public long spansOf(int series) {
    long spans = -1;
    for (int i = 0; i < paneCount; i++) {
      int row = panes[i].row(series);
      if (row >= 0) {
        spans = Math.max(spans, 0) + panes[i].spans(row);
      }
    }
    return spans;
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
    keep(of.extras(), number, bucket, document, of.extras().addDocument(number));
  }

  /** Notes that a slow or failed span was not kept. */
  public void holdBack(WindowRows of, int row) {
    int number = of.extras(row);
    if (number >= 0) {
      of.extras().holdBack(number);
    }
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
    keep(of.extras(), of.openExtras(row), bucket, document, null);
  }

  /** Keeps a document as exemplar. Exemplars are indexes into the documents, so each has one. */
  private void keep(
      RowExtras extras, int number, int bucket, TraceDocument document, RowExtras.Remarkable one) {
    int previous = extras.exemplar(number);
    if (previous != RowExtras.NO_EXEMPLAR
        && documents.get(previous).reason() == TraceDocument.Reason.EXEMPLAR) {
      // The ordinary span is no longer referenced, so the new document replaces it.
      documents.set(previous, document);
      remarkable.set(previous, one);
      extras.exemplar(number, previous, bucket);
    } else {
      extras.exemplar(number, documents.size(), bucket);
      documents.add(document);
      remarkable.add(one);
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

  /** Books spans that were recorded. */
  public void bookRecorded(int application, long spans) {
    ledger.add(application, Ledger.RECEIVED, spans);
    ledger.add(application, Ledger.RECORDED, spans);
  }

  /** Books the bytes of a batch that is no duplicate, as it was sent. */
  public void bookBytes(int application, long bytes) {
    ledger.add(application, Ledger.BYTES, bytes);
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
    return rows() == 0 && ledger.isEmpty();
  }

  /**
   * Returns the sealed window, with new arrays cut to size. Nothing may be added afterwards, as the
   * rows of all panes are added up in place.
   *
   * @param paneMillis length of a pane; 0 to seal the window without its panes
   * @param completeness needs panes
   * @param closedMillis needs panes, unless it is {@link SealedWindow#UNKNOWN_CLOSED}
   * @param edges needs panes, unless it is {@link EdgeChange#NONE}
   */
  public SealedWindow seal(
      QueueId queue,
      long from,
      long to,
      long openedMillis,
      long sealedMillis,
      List<SeriesDefinition> created,
      int[] evicted,
      long schema,
      long paneMillis,
      AcceptedBatches batches,
      WindowCompleteness completeness,
      long closedMillis,
      EdgeChange edges) {
    weigh();
    PaneSum sum = new PaneSum(panes, paneCount, stride);
    WindowRows rows = sum.rows();
    int size = rows.size();
    boolean hasPanes =
        paneMillis != 0
            && (size > 0
                || !completeness.isEmpty()
                || closedMillis != SealedWindow.UNKNOWN_CLOSED
                || !edges.isNone());
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
        paneCount > 1 ? referenced(exemplars) : List.copyOf(documents),
        ledger.books(),
        schema,
        carries,
        batches,
        rows.sealNatives(),
        hasPanes
            ? new WindowPanes(
                paneMillis,
                // Without a row, any pane near the window.
                size == 0 ? Math.floorDiv(openedMillis, paneMillis) * paneMillis : sum.mainMillis(),
                mergedSpans,
                sum.others())
            : WindowPanes.NONE,
        completeness,
        closedMillis,
        hasSizes,
        edges);
  }

  /** Notes in each document how many spans it represents. */
  private void weigh() {
    for (int i = 0; i < documents.size(); i++) {
      RowExtras.Remarkable one = remarkable.get(i);
      if (one != null && one.heldBack > 0) {
        documents.set(i, documents.get(i).representing(one.kept, one.heldBack));
      }
    }
  }

  /**
   * Returns the documents without ordinary spans that are no row's exemplar: their series has one
   * in a newer pane. Updates the indexes.
   */
  private List<TraceDocument> referenced(int[] exemplars) {
    boolean[] isExemplar = new boolean[documents.size()];
    for (int exemplar : exemplars) {
      if (exemplar != RowExtras.NO_EXEMPLAR) {
        isExemplar[exemplar] = true;
      }
    }
    int[] indexes = new int[isExemplar.length];
    List<TraceDocument> referenced = new ArrayList<>();
    for (int i = 0; i < indexes.length; i++) {
      TraceDocument document = documents.get(i);
      if (isExemplar[i] || document.reason() != TraceDocument.Reason.EXEMPLAR) {
        indexes[i] = referenced.size();
        referenced.add(document);
      }
    }
    for (int row = 0; row < exemplars.length; row++) {
      if (exemplars[row] != RowExtras.NO_EXEMPLAR) {
        exemplars[row] = indexes[exemplars[row]];
      }
    }
    return List.copyOf(referenced);
  }

  /** Clears the window. */
  public void clear() {
    for (int i = 0; i < paneCount; i++) {
      keep(panes[i]);
      panes[i] = null;
    }
    paneCount = 0;
    current = null;
    isLate = false;
    turn = 0;
    isMerged = false;
    mergedSpans = 0;
    documents = new ArrayList<>();
    remarkable.clear();
    documentsLeft = documentsPerWindow;
    exemplarsLeft = exemplarsPerWindow;
    ledger.clear();
  }
}
