package org.traceetl.server.journal.format;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/**
 * The format of a sealed window, in the types of {@link RecordWriter}:
 *
 * <pre>
 *   octet     version
 *   in version 5: octet  the version whose format the rest has, 1 to 4
 *   from version 3 on: octet  flags, the sum of: 1, rows have native histograms; from version 4 on:
 *     2, the last count of a row is the size of its spans; 4, panes and extensions follow
 *   signed    from
 *   signed    to - from
 *   signed    opened, milliseconds
 *   signed    sealed - opened
 *   unsigned  documents n, n times:
 *     fixed     trace ID, two of them; span ID
 *     octet     reason &lt;&lt; 5 | kind &lt;&lt; 2 | status
 *     text      application, operation, status message
 *     signed    start - opened, nanoseconds; duration
 *     unsigned  attributes n, n times in the order of their keys: text key, text value
 *   unsigned  books n, n times:
 *     text      application
 *     unsigned  received, recorded, overflowed, filtered, duplicate, held back
 *     unsigned  reasons n, n times in their order: text reason, unsigned rejected
 *   fixed     schema
 *   unsigned  stride
 *   unsigned  created n, n times: {@link DefinitionFormat}, beginning at opened
 *   unsigned  rows n, n times in the order of their series:
 *     unsigned  (series - series of the row before - 1) &lt;&lt; 2 | has carry &lt;&lt; 1 | has exemplar
 *     sparse    counts
 *     in version 2, and by the flag: {@link NativeFormat}
 *     unsigned  sum of durations, nanoseconds
 *     unsigned  exemplar, its bucket, if it has one
 *     unsigned  carry, if it has one
 *   unsigned  evicted n, n times: signed number - number of the one before
 *   unsigned  agents n, n times in their order: fixed ID, two of them; {@link BatchesFormat}
 *   in version 3, and by the flag: {@link PanesFormat}
 *   in version 3, and by the flag: unsigned  extensions n, n times: unsigned ID; unsigned length,
 *     its bytes
 *     1: {@link CompletenessFormat}
 *     2: signed  closed - opened, milliseconds
 *     3: {@link EdgeChangeFormat}
 *     4: for each of the books: unsigned bytes
 * </pre>
 *
 * <p>Version 1 has neither native histograms nor panes, version 2 has no panes, and version 3 has
 * panes. Only version 4 has sizes, or all flags. Version 5 has new series of variances, and only
 * it. A window has the lowest version that holds it and what its rows would have, so that older
 * servers can read it. Readers skip extensions whose ID they do not know.
 *
 * <p>A decoded window equals the encoded one, with its rows in the order of their series. It needs
 * at most about 64 times the memory of its bytes.
 */
public final class WindowFormat {
  /** The version without native histograms. */
  static final int CLASSIC_VERSION = 1;

  /** The version with native histograms. */
  static final int NATIVE_VERSION = 2;

  /** The version with panes. */
  static final int PANES_VERSION = 3;

  /** The version with sizes. */
  static final int SIZES_VERSION = 4;

  /** The version with series of variances, the latest one. */
  static final int VARIANCES_VERSION = 5;

  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int NO_EXEMPLAR = -1;
  private static final int HAS_EXEMPLAR = 1;
  private static final int HAS_CARRY = 2;
  private static final int ROW_FLAGS = 2;

  /** More than the number of buckets that can be configured. */
  static final int MAX_STRIDE = 1_024;

  private static final int MIN_DOCUMENT_BYTES = 3 * Long.BYTES + 7;
  private static final int MIN_BOOKS_BYTES = 8;
  private static final int MIN_PAIR_BYTES = 2;
  private static final int MIN_EXTENSION_BYTES = 2;
  private static final int HAS_NATIVE = 1;
  private static final int HAS_SIZES = 2;
  private static final int HAS_PANES = 4;

  /** ID of the extension with the time until which panes are closed. */
  private static final long CLOSED_ID = 2;

  /** ID of the extension with the bytes of the books. */
  private static final long BYTES_ID = 4;

  private static final TraceDocument.Reason[] REASONS = TraceDocument.Reason.values();

  private WindowFormat() {}

  /** Writes a window at the writer's position. Its queue is not written. */
  public static void encode(SealedWindow window, RecordWriter out) {
    boolean hasNative = !window.natives().isEmpty();
    boolean hasPanes = !window.panes().isEmpty();
    int flags = hasNative ? HAS_NATIVE : 0;
    if (window.created().stream().anyMatch(SeriesDefinition::isOfVariance)) {
      out.octet(VARIANCES_VERSION);
    }
    if (window.hasSizes()) {
      out.octet(SIZES_VERSION);
      out.octet(flags | HAS_SIZES | (hasPanes ? HAS_PANES : 0));
    } else if (hasPanes) {
      out.octet(PANES_VERSION);
      out.octet(flags);
    } else {
      out.octet(hasNative ? NATIVE_VERSION : CLASSIC_VERSION);
    }
    out.signed(window.from());
    out.signed(window.to() - window.from());
    out.signed(window.openedMillis());
    out.signed(window.sealedMillis() - window.openedMillis());
    writeDocuments(window, out);
    writeBooks(window.books(), out);
    out.fixed(window.schema());
    out.unsigned(window.stride());
    out.unsigned(window.created().size());
    DefinitionFormat definitions = new DefinitionFormat(window.openedMillis());
    for (SeriesDefinition definition : window.created()) {
      definitions.write(definition, out);
    }
    long[] order = order(window);
    writeRows(window, order, out);
    writeEvicted(window.evicted(), out);
    writeBatches(window.batches(), out);
    if (hasPanes) {
      PanesFormat.write(window, positions(order), out);
      writeExtensions(window, out);
    }
  }

  /**
   * Reads a window of a queue.
   *
   * @throws UnknownVersionException if the version is later than the known ones
   * @throws MalformedRecordException if {@code bytes[offset, offset + length)} are not exactly one
   */
  public static SealedWindow decode(byte[] bytes, int offset, int length, QueueId queue)
      throws MalformedRecordException {
    RecordReader in = new RecordReader(bytes, offset, length);
    int flags = readFlags(in);
    boolean hasNative = (flags & HAS_NATIVE) != 0;
    boolean hasSizes = (flags & HAS_SIZES) != 0;
    long from = in.signed();
    long to = from + in.signed();
    long openedMillis = in.signed();
    long sealedMillis = openedMillis + in.signed();
    List<TraceDocument> documents = readDocuments(in, openedMillis);
    List<Books> books = readBooks(in);
    long schema = in.fixed();
    int stride = (int) in.upTo(MAX_STRIDE, "stride");
    if (hasSizes && stride == 0) {
      throw in.malformed("has sizes in rows of 0 numbers");
    }
    List<SeriesDefinition> created = readCreated(in, openedMillis);
    int buckets = hasSizes ? stride - 1 : stride;
    Rows rows = new Rows(in, hasNative, stride, buckets, documents.size());
    int[] evicted = readEvicted(in);
    AcceptedBatches batches = readBatches(in);
    WindowPanes panes = WindowPanes.NONE;
    Extensions extensions = Extensions.NONE;
    if ((flags & HAS_PANES) != 0) {
      panes = PanesFormat.read(in, openedMillis, rows.series.length, stride, hasNative);
      extensions = readExtensions(in, openedMillis, books.size());
    }
    in.end();
    return new SealedWindow(
        queue,
        from,
        to,
        openedMillis,
        sealedMillis,
        created,
        evicted,
        rows.series.length,
        stride,
        rows.series,
        rows.counts,
        rows.durationNanos,
        rows.exemplars,
        rows.exemplarBuckets,
        documents,
        extensions.addTo(books),
        schema,
        rows.carries,
        batches,
        rows.natives,
        panes,
        extensions.completeness,
        extensions.closedMillis,
        hasSizes,
        extensions.edges);
  }

  /** Reads the version and its flags. */
  private static int readFlags(RecordReader in) throws MalformedRecordException {
    return switch (version(in, VARIANCES_VERSION)) {
      case CLASSIC_VERSION -> 0;
      case NATIVE_VERSION -> HAS_NATIVE;
      case PANES_VERSION -> HAS_PANES | (int) in.upTo(HAS_NATIVE, "flags");
      default -> (int) in.upTo(HAS_NATIVE | HAS_SIZES | HAS_PANES, "flags");
    };
  }

  /**
   * Reads the version of a window or a snapshot.
   *
   * @param last the latest known version, that with variances
   * @return the version whose format the rest has, below the last
   */
  static int version(RecordReader in, int last) throws MalformedRecordException {
    int version = in.octet();
    if (version > last) {
      throw new UnknownVersionException(version, last);
    }
    int ofRest = version == last ? in.octet() : version;
    if (ofRest < CLASSIC_VERSION || ofRest >= last) {
      throw in.malformed("has version " + ofRest);
    }
    return ofRest;
  }

  private static void writeDocuments(SealedWindow window, RecordWriter out) {
    out.unsigned(window.documents().size());
    for (TraceDocument document : window.documents()) {
      out.fixed(Long.parseUnsignedLong(document.traceId(), 0, 16, 16));
      out.fixed(Long.parseUnsignedLong(document.traceId(), 16, 32, 16));
      out.fixed(Long.parseUnsignedLong(document.spanId(), 0, 16, 16));
      out.octet(document.reason().ordinal() << 5 | document.kind() << 2 | document.status());
      out.text(document.application());
      out.text(document.operation());
      out.text(document.statusMessage());
      // May overflow; the reader reverses that.
      out.signed(document.startUnixNanos() - window.openedMillis() * NANOS_PER_MILLI);
      out.signed(document.durationNanos());
      // Equal windows must give equal bytes, whatever the order of the map.
      Map<String, String> attributes = new TreeMap<>(document.attributes());
      out.unsigned(attributes.size());
      attributes.forEach((key, value) -> {
        out.text(key);
        out.text(value);
      });
    }
  }

  private static List<TraceDocument> readDocuments(RecordReader in, long openedMillis)
      throws MalformedRecordException {
    int count = in.count(MIN_DOCUMENT_BYTES, "documents");
    List<TraceDocument> documents = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String traceId = hex(in.fixed()) + hex(in.fixed());
      String spanId = hex(in.fixed());
      int head = in.octet();
      int reason = head >>> 5;
      int kind = head >>> 2 & 7;
      int status = head & 3;
      if (reason >= REASONS.length || kind > 5 || status > 2) {
        throw in.malformed(
            "has a document of reason " + reason + ", kind " + kind + ", status " + status);
      }
      documents.add(
          new TraceDocument(
              traceId,
              spanId,
              in.text("application"),
              in.text("operation"),
              kind,
              status,
              in.text("status message"),
              in.signed() + openedMillis * NANOS_PER_MILLI,
              in.signed(),
              REASONS[reason],
              readAttributes(in)));
    }
    return List.copyOf(documents);
  }

  private static Map<String, String> readAttributes(RecordReader in)
      throws MalformedRecordException {
    int count = in.count(MIN_PAIR_BYTES, "attributes");
    Map<String, String> attributes = HashMap.newHashMap(count);
    for (int i = 0; i < count; i++) {
      attributes.put(in.text("attribute's key"), in.text("attribute's value"));
    }
    return Map.copyOf(attributes);
  }

  private static String hex(long half) {
    return HexFormat.of().toHexDigits(half);
  }

  private static void writeBooks(List<Books> all, RecordWriter out) {
    out.unsigned(all.size());
    for (Books books : all) {
      out.text(books.application());
      out.unsigned(books.received());
      out.unsigned(books.recorded());
      out.unsigned(books.overflowed());
      out.unsigned(books.filtered());
      out.unsigned(books.duplicate());
      out.unsigned(books.heldBack());
      Map<String, Long> rejected = new TreeMap<>(books.rejected());
      out.unsigned(rejected.size());
      rejected.forEach((reason, spans) -> {
        out.text(reason);
        out.unsigned(spans);
      });
    }
  }

  private static List<Books> readBooks(RecordReader in) throws MalformedRecordException {
    int count = in.count(MIN_BOOKS_BYTES, "books");
    List<Books> all = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String application = in.text("application");
      long received = in.amount("spans received");
      long recorded = in.amount("spans recorded");
      long overflowed = in.amount("spans overflowed");
      long filtered = in.amount("spans filtered");
      long duplicate = in.amount("spans duplicate");
      long heldBack = in.amount("documents held back");
      int reasons = in.count(MIN_PAIR_BYTES, "reasons");
      Map<String, Long> rejected = HashMap.newHashMap(reasons);
      for (int reason = 0; reason < reasons; reason++) {
        rejected.put(in.text("reason"), in.amount("spans rejected"));
      }
      all.add(
          new Books(
              application,
              received,
              recorded,
              overflowed,
              filtered,
              duplicate,
              Map.copyOf(rejected),
              heldBack));
    }
    return List.copyOf(all);
  }

  private static List<SeriesDefinition> readCreated(RecordReader in, long openedMillis)
      throws MalformedRecordException {
    int count = in.count(DefinitionFormat.MIN_BYTES, "series");
    DefinitionFormat definitions = new DefinitionFormat(openedMillis);
    List<SeriesDefinition> created = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      created.add(definitions.read(in));
    }
    return List.copyOf(created);
  }

  private static void writeExtensions(SealedWindow window, RecordWriter out) {
    boolean isComplete = !window.completeness().isEmpty();
    boolean isClosed = window.closedMillis() != SealedWindow.UNKNOWN_CLOSED;
    boolean hasEdges = !window.edges().isNone();
    boolean hasBytes = window.books().stream().anyMatch(books -> books.bytes() != 0);
    out.unsigned(
        (isComplete ? 1 : 0) + (isClosed ? 1 : 0) + (hasEdges ? 1 : 0) + (hasBytes ? 1 : 0));
    // With texts of its own, so that a reader that skips it knows the numbers of the others.
    RecordWriter extension = new RecordWriter();
    if (isComplete) {
      CompletenessFormat.write(window.completeness(), window.openedMillis(), extension);
      writeExtension(CompletenessFormat.ID, extension, out);
    }
    if (isClosed) {
      extension.clear();
      extension.signed(window.closedMillis() - window.openedMillis());
      writeExtension(CLOSED_ID, extension, out);
    }
    if (hasEdges) {
      extension.clear();
      EdgeChangeFormat.write(window.edges(), extension);
      writeExtension(EdgeChangeFormat.ID, extension, out);
    }
    if (hasBytes) {
      extension.clear();
      window.books().forEach(books -> extension.unsigned(books.bytes()));
      writeExtension(BYTES_ID, extension, out);
    }
  }

  private static void writeExtension(long id, RecordWriter extension, RecordWriter out) {
    out.unsigned(id);
    out.unsigned(extension.size());
    out.bytes(extension);
  }

  /** What the known extensions of a window contain. */
  private record Extensions(
      WindowCompleteness completeness, long closedMillis, EdgeChange edges, long[] bytes) {
    static final Extensions NONE =
        new Extensions(
            WindowCompleteness.NONE, SealedWindow.UNKNOWN_CLOSED, EdgeChange.NONE, new long[0]);

    private List<Books> addTo(List<Books> books) {
      return bytes.length == 0
          ? books
          : IntStream.range(0, bytes.length)
              .mapToObj(i -> books.get(i).withBytes(bytes[i]))
              .toList();
    }
  }

  /** Reads the extensions. Bytes after a known one are those of a later server. */
  private static Extensions readExtensions(RecordReader in, long openedMillis, int books)
      throws MalformedRecordException {
    WindowCompleteness completeness = WindowCompleteness.NONE;
    long closedMillis = SealedWindow.UNKNOWN_CLOSED;
    EdgeChange edges = EdgeChange.NONE;
    long[] bytes = new long[0];
    int extensions = in.count(MIN_EXTENSION_BYTES, "extensions");
    for (int i = 0; i < extensions; i++) {
      long id = in.amount("ID of an extension");
      RecordReader extension = in.part(in.count(1, "bytes of an extension"));
      if (id == CompletenessFormat.ID) {
        completeness = CompletenessFormat.read(extension, openedMillis);
      } else if (id == CLOSED_ID) {
        closedMillis = openedMillis + extension.signed();
        if (!PanesFormat.isTime(closedMillis)) {
          throw in.malformed("closes panes until " + closedMillis);
        }
      } else if (id == EdgeChangeFormat.ID) {
        edges = EdgeChangeFormat.read(extension);
      } else if (id == BYTES_ID) {
        bytes = new long[books];
        for (int of = 0; of < books; of++) {
          bytes[of] = extension.amount("bytes of an application");
        }
      }
    }
    return new Extensions(completeness, closedMillis, edges, bytes);
  }

  /** Returns the window's rows in the order of their series, which is in the high bits. */
  private static long[] order(SealedWindow window) {
    long[] order = new long[window.rows()];
    for (int row = 0; row < order.length; row++) {
      order[row] = (long) window.series()[row] << Integer.SIZE | row;
    }
    Arrays.sort(order);
    return order;
  }

  /** Returns by row its place in the order. */
  private static int[] positions(long[] order) {
    int[] positions = new int[order.length];
    for (int position = 0; position < order.length; position++) {
      positions[(int) order[position]] = position;
    }
    return positions;
  }

  private static void writeRows(SealedWindow window, long[] order, RecordWriter out) {
    out.unsigned(order.length);
    int before = -1;
    for (long entry : order) {
      int row = (int) entry;
      int series = window.series()[row];
      if (series <= before) {
        throw new IllegalArgumentException(
            "window of queue " + window.queue() + " has two rows of series " + series);
      }
      boolean exemplar = window.exemplars()[row] != NO_EXEMPLAR;
      boolean carry = window.carries()[row] != 0;
      out.unsigned(
          (series - before - 1L) << ROW_FLAGS
              | (carry ? HAS_CARRY : 0)
              | (exemplar ? HAS_EXEMPLAR : 0));
      out.sparse(window.counts(), row * window.stride(), window.stride());
      if (!window.natives().isEmpty()) {
        NativeFormat.write(window.natives(), row, out);
      }
      out.unsigned(window.durationNanos()[row]);
      if (exemplar) {
        out.unsigned(window.exemplars()[row]);
        out.unsigned(window.exemplarBuckets()[row]);
      }
      if (carry) {
        out.unsigned(window.carries()[row]);
      }
      before = series;
    }
  }

  /** The decoded rows of a window. */
  private static final class Rows {
    private final int[] series;
    private final long[] counts;
    private final long[] durationNanos;
    private final int[] exemplars;
    private final int[] exemplarBuckets;
    private final long[] carries;
    private final NativeCounts natives;

    Rows(RecordReader in, boolean hasNative, int stride, int buckets, int documents)
        throws MalformedRecordException {
      int rows = in.count(2 + RecordWriter.sparseBytes(stride), "rows");
      if ((long) rows * stride > Integer.MAX_VALUE - 8) {
        throw in.malformed("has " + rows + " rows of " + stride + " numbers");
      }
      series = new int[rows];
      counts = new long[rows * stride];
      durationNanos = new long[rows];
      exemplars = new int[rows];
      exemplarBuckets = new int[rows];
      carries = new long[rows];
      NativeCounts.Builder histograms = hasNative ? new NativeCounts.Builder(rows) : null;
      int before = -1;
      for (int row = 0; row < rows; row++) {
        long head =
            in.upTo((DefinitionFormat.MAX_SERIES - 1L - before) << ROW_FLAGS, "step of rows");
        before += 1 + (int) (head >>> ROW_FLAGS);
        series[row] = before;
        in.sparse(counts, row * stride, stride, "counts");
        if (histograms != null) {
          NativeFormat.read(in, histograms);
        }
        durationNanos[row] = in.amount("sum of durations");
        exemplars[row] = NO_EXEMPLAR;
        if ((head & HAS_EXEMPLAR) != 0) {
          exemplars[row] = (int) in.upTo(documents - 1L, "exemplar");
          exemplarBuckets[row] = (int) in.upTo(buckets - 1L, "bucket of an exemplar");
        }
        if ((head & HAS_CARRY) != 0) {
          carries[row] = in.amount("carry");
        }
      }
      natives = histograms == null ? NativeCounts.NONE : histograms.build();
    }
  }

  private static void writeEvicted(int[] evicted, RecordWriter out) {
    out.unsigned(evicted.length);
    int before = 0;
    for (int series : evicted) {
      out.signed((long) series - before);
      before = series;
    }
  }

  private static int[] readEvicted(RecordReader in) throws MalformedRecordException {
    int[] evicted = new int[in.count(1, "evicted series")];
    long before = 0;
    for (int i = 0; i < evicted.length; i++) {
      before += in.signed();
      if (before < 0 || before >= DefinitionFormat.MAX_SERIES) {
        throw in.malformed("evicts series " + before);
      }
      evicted[i] = (int) before;
    }
    return evicted;
  }

  private static void writeBatches(AcceptedBatches batches, RecordWriter out) {
    int agents = 0;
    for (int run = 0; run < batches.size(); run = nextAgent(batches, run)) {
      agents++;
    }
    out.unsigned(agents);
    for (int run = 0; run < batches.size(); ) {
      int next = nextAgent(batches, run);
      out.fixed(batches.agentHigh(run));
      out.fixed(batches.agentLow(run));
      BatchesFormat.write(batches, run, next, out);
      run = next;
    }
  }

  private static int nextAgent(AcceptedBatches batches, int run) {
    int next = run + 1;
    while (next < batches.size()
        && batches.agentHigh(next) == batches.agentHigh(run)
        && batches.agentLow(next) == batches.agentLow(run)) {
      next++;
    }
    return next;
  }

  private static AcceptedBatches readBatches(RecordReader in) throws MalformedRecordException {
    int agents = in.count(2 * Long.BYTES + BatchesFormat.MIN_BYTES, "agents");
    AcceptedBatches.Builder runs = new AcceptedBatches.Builder(agents);
    long highBefore = 0;
    long lowBefore = 0;
    for (int agent = 0; agent < agents; agent++) {
      long high = in.fixed();
      long low = in.fixed();
      int order = Long.compareUnsigned(high, highBefore);
      if (agent > 0 && (order < 0 || (order == 0 && Long.compareUnsigned(low, lowBefore) <= 0))) {
        throw in.malformed("has agents out of their order");
      }
      BatchesFormat.read(in, high, low, runs::add);
      highBefore = high;
      lowBefore = low;
    }
    return runs.take();
  }
}
