package org.traceetl.server.window;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.proto.Rejection;

/**
 * An open window of one queue: rows of numbers for its series, its documents and its books. Memory
 * is reused for each window; clearing takes time in proportion to its use.
 *
 * <p>Rows are in blocks of {@value #BLOCK_ROWS}, so that growth copies nothing. A row is {@code
 * stride + 4} ints:
 *
 * <pre>
 *   0            series
 *   1            number in {@link RowExtras} + 1; 0 without
 *   2, 3         sum of durations, nanoseconds: low half, high half
 *   4 ...        spans by bucket
 * </pre>
 *
 * <p>Counts that exceed an int continue in the extras.
 *
 * <p>Concurrency: owned by one thread at a time. A queue has two of these. The worker that owns the
 * queue writes to one of them; between two batches it may pass that one to the sealer and continue
 * with the other. The sealer reads, clears and returns it. Both transfers use a queue or a
 * reference that orders memory; nothing here is volatile or locked. While the worker has both, the
 * open one can take blocks of the empty one ({@link #takeBlock}), so both need little more memory
 * than one window.
 */
public final class WindowMetrics {
  private static final int BLOCK_BITS = 8;
  private static final int BLOCK_ROWS = 1 << BLOCK_BITS;

  private static final int SERIES = 0;
  private static final int EXTRAS = 1;
  private static final int DURATION_LOW = 2;
  private static final int DURATION_HIGH = 3;
  private static final int COUNTS = 4;

  private static final long LOW_HALF = 0xFFFF_FFFFL;

  private final int stride;
  private final int width;
  private final int documentsPerSeries;
  private final int documentsPerWindow;
  private final int exemplarsPerWindow;

  /** By series, in blocks: row + 1; 0 without a row. Null for a block without rows. */
  private int[][] rowsOf = new int[1][];

  /** The first {@link #blockCount} exist; unopened rows are all 0. */
  private int[][] blocks = new int[1][];

  private int blockCount;
  private int rows;
  private final RowExtras extras;

  private List<TraceDocument> documents = new ArrayList<>();
  private int documentsLeft;
  private int exemplarsLeft;
  private final Ledger ledger = new Ledger();

  /** Null without native histograms. */
  private final NativeRows natives;

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
    width = COUNTS + stride;
    this.documentsPerSeries = documentsPerSeries;
    this.documentsPerWindow = documentsPerWindow;
    this.exemplarsPerWindow = exemplarsPerWindow;
    extras = new RowExtras(stride);
    natives = hasNative ? new NativeRows() : null;
    documentsLeft = documentsPerWindow;
    exemplarsLeft = exemplarsPerWindow;
  }

  /** Returns the row of a series, or -1 if it has none. */
  public int row(int series) {
    int block = series >>> BLOCK_BITS;
    if (block >= rowsOf.length || rowsOf[block] == null) {
      return -1;
    }
    return rowsOf[block][series & BLOCK_ROWS - 1] - 1;
  }

  /** Returns the series of a row. */
  public int series(int row) {
    return blocks[row >>> BLOCK_BITS][at(row) + SERIES];
  }

  /** Returns the number of open rows. */
  public int rows() {
    return rows;
  }

  /** Returns whether {@link #open} would allocate a block. */
  public boolean isFull() {
    return rows == blockCount << BLOCK_BITS;
  }

  /**
   * Takes a block, and one of native histograms, from an empty window of the same queue, if it has
   * one.
   */
  public void takeBlock(WindowMetrics empty) {
    if (empty.blockCount > 0) {
      empty.blockCount--;
      add(empty.blocks[empty.blockCount]);
      empty.blocks[empty.blockCount] = null;
      if (natives != null) {
        natives.takeBlock(empty.natives);
      }
    }
  }

  private void add(int[] block) {
    if (blockCount == blocks.length) {
      blocks = Arrays.copyOf(blocks, blockCount * 2);
    }
    blocks[blockCount++] = block;
  }

  /** Opens a row for a series without one; returns its number. */
  public int open(int series) {
    if (isFull()) {
      add(new int[BLOCK_ROWS * width]);
    }
    int row = rows++;
    int block = series >>> BLOCK_BITS;
    if (block >= rowsOf.length) {
      rowsOf = Arrays.copyOf(rowsOf, Math.max(block + 1, rowsOf.length * 2));
    }
    if (rowsOf[block] == null) {
      rowsOf[block] = new int[BLOCK_ROWS];
    }
    rowsOf[block][series & BLOCK_ROWS - 1] = row + 1;
    blocks[row >>> BLOCK_BITS][at(row) + SERIES] = series;
    if (natives != null) {
      natives.open(row);
    }
    return row;
  }

  /** Returns the start of a row in its block. */
  private int at(int row) {
    return (row & BLOCK_ROWS - 1) * width;
  }

  /**
   * Adds a span. The sum of durations saturates.
   *
   * @param weight number of spans it represents, 0 to 2^31 - 1
   * @param weightedNanos its duration times its weight, at least 0
   */
  public void add(int row, int bucket, long weight, long weightedNanos) {
    int[] block = blocks[row >>> BLOCK_BITS];
    int at = at(row);
    long count = block[at + COUNTS + bucket] + weight;
    if (count > Integer.MAX_VALUE) {
      extras.spill(openExtras(row), bucket, count);
      count = 0;
    }
    block[at + COUNTS + bucket] = (int) count;
    long sum = durationNanos(block, at) + weightedNanos;
    sum = sum < 0 ? Long.MAX_VALUE : sum;
    block[at + DURATION_LOW] = (int) sum;
    block[at + DURATION_HIGH] = (int) (sum >>> Integer.SIZE);
  }

  /** Returns the spans of a row, 2^31 - 1 or more if its counts have spilled. */
  public long spans(int row) {
    int[] block = blocks[row >>> BLOCK_BITS];
    int at = at(row) + COUNTS;
    long spans = 0;
    for (int bucket = 0; bucket < stride; bucket++) {
      spans += block[at + bucket];
    }
    int number = extras(row);
    return number >= 0 && extras.hasSpilled(number) ? spans + Integer.MAX_VALUE : spans;
  }

  private static long durationNanos(int[] block, int at) {
    return (long) block[at + DURATION_HIGH] << Integer.SIZE | block[at + DURATION_LOW] & LOW_HALF;
  }

  /** Returns the number of a row's extras, or -1. */
  private int extras(int row) {
    return blocks[row >>> BLOCK_BITS][at(row) + EXTRAS] - 1;
  }

  private int openExtras(int row) {
    int number = extras(row);
    if (number < 0) {
      number = extras.open();
      blocks[row >>> BLOCK_BITS][at(row) + EXTRAS] = number + 1;
    }
    return number;
  }

  /** Sets by which fraction of a span a row's series is below the exact sum. */
  public void carry(int row, long fraction) {
    extras.carry(openExtras(row), fraction);
  }

  /**
   * Adds a span to its row's native histogram, which must exist.
   *
   * @param bucket number from {@link NativeBuckets}
   * @param weight number of spans it represents
   */
  public void addNative(int row, int bucket, long weight) {
    natives.add(row, bucket, weight);
  }

  /**
   * Returns whether a row's native histogram, which must exist, is valid. Reads the memory that
   * {@link #addNative} writes.
   */
  public boolean isNativeSound(int row) {
    return natives.isSound(row);
  }

  /** Returns whether another slow or failed span of this row may be kept. */
  public boolean admitsDocument(int row) {
    if (documentsLeft <= 0) {
      return false;
    }
    int number = extras(row);
    int kept = number < 0 ? 0 : extras.documents(number);
    return kept < documentsPerSeries;
  }

  /** Keeps a slow or failed span; the latest one is its row's exemplar. */
  public void keepDocument(int row, int bucket, TraceDocument document) {
    documentsLeft--;
    int number = openExtras(row);
    extras.addDocument(number);
    keep(number, bucket, document);
  }

  /** Returns whether this row needs an ordinary span as its exemplar. */
  public boolean wantsExemplar(int row) {
    if (exemplarsLeft <= 0) {
      return false;
    }
    int number = extras(row);
    return number < 0 || extras.exemplar(number) == RowExtras.NO_EXEMPLAR;
  }

  /** Keeps an ordinary span as the exemplar of a row that needs one. */
  public void keepExemplar(int row, int bucket, TraceDocument document) {
    exemplarsLeft--;
    keep(openExtras(row), bucket, document);
  }

  /** Keeps a document as exemplar. Exemplars are indexes into the documents, so each has one. */
  private void keep(int number, int bucket, TraceDocument document) {
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
    return rows == 0 && ledger.isEmpty();
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
    int[] series = new int[rows];
    long[] counts = new long[rows * stride];
    long[] durationNanos = new long[rows];
    int[] exemplars = new int[rows];
    int[] exemplarBuckets = new int[rows];
    long[] carries = new long[rows];
    for (int row = 0; row < rows; row++) {
      int[] block = blocks[row >>> BLOCK_BITS];
      int at = at(row);
      series[row] = block[at + SERIES];
      durationNanos[row] = durationNanos(block, at);
      for (int bucket = 0; bucket < stride; bucket++) {
        counts[row * stride + bucket] = block[at + COUNTS + bucket];
      }
      exemplars[row] = RowExtras.NO_EXEMPLAR;
      int number = extras(row);
      if (number >= 0) {
        extras.addSpilled(number, counts, row * stride);
        exemplars[row] = extras.exemplar(number);
        exemplarBuckets[row] = extras.exemplarBucket(number);
        carries[row] = extras.carry(number);
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
        rows,
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
        natives == null ? NativeCounts.NONE : natives.seal(rows));
  }

  /** Clears the window. */
  public void clear() {
    for (int row = 0; row < rows; row++) {
      int series = blocks[row >>> BLOCK_BITS][at(row) + SERIES];
      rowsOf[series >>> BLOCK_BITS][series & BLOCK_ROWS - 1] = 0;
    }
    for (int first = 0; first < rows; first += BLOCK_ROWS) {
      int used = Math.min(BLOCK_ROWS, rows - first);
      Arrays.fill(blocks[first >>> BLOCK_BITS], 0, used * width, 0);
    }
    if (natives != null) {
      natives.clear(rows);
    }
    rows = 0;
    extras.clear();
    documents = new ArrayList<>();
    documentsLeft = documentsPerWindow;
    exemplarsLeft = exemplarsPerWindow;
    ledger.clear();
  }
}
