package org.traceetl.server.journal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.RandomWindows;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

class WindowInvariantsTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);

  private final RecordPayloads payloads = new RecordPayloads(Windows::newImage);

  /** A window with two series of 4 and 6 spans, and their books. */
  private static SealedWindow sound() {
    return Windows.with(
        Windows.window(QUEUE, 0, 10, batches(1, 0, 4, 1, 6, 9), true, 4, 6),
        "books",
        List.of(books(12, 9, 1)),
        "documents",
        List.of(document(5, 2)));
  }

  private static Books books(long received, long recorded, long overflowed) {
    return new Books("shop", received, recorded, overflowed, 1, 0, Map.of("malformed", 1L), 0);
  }

  private static TraceDocument document(int kind, int status) {
    return new TraceDocument(
        "0".repeat(31) + "1",
        "0".repeat(15) + "1",
        "shop",
        "pay",
        kind,
        status,
        "",
        0,
        1,
        TraceDocument.Reason.SLOW,
        Map.of());
  }

  /**
   * @param runs epoch, first and last sequence of each run
   */
  private static AcceptedBatches batches(long... runs) {
    long[] all = new long[runs.length / 3 * AcceptedBatches.COLUMNS];
    for (int run = 0; run < runs.length / 3; run++) {
      System.arraycopy(runs, run * 3, all, run * AcceptedBatches.COLUMNS + 2, 3);
    }
    return new AcceptedBatches(all);
  }

  private static SeriesDefinition definition(int series) {
    return new SeriesDefinition(series, 0, false, List.of("shop", "pay", "2", "0"));
  }

  private static NativeCounts natives(long ofSecond) {
    NativeCounts.Builder natives = new NativeCounts.Builder(2);
    natives.add(3, 4);
    natives.endRow();
    natives.add(3, 1);
    natives.add(7, ofSecond);
    natives.endRow();
    return natives.build();
  }

  private static WindowPanes.Pane pane(long startMillis, int row, long spans, long durationNanos) {
    return pane(startMillis, new int[] {row}, new long[] {spans}, new long[] {durationNanos});
  }

  private static WindowPanes.Pane pane(
      long startMillis, int[] rows, long[] counts, long[] durationNanos) {
    return new WindowPanes.Pane(startMillis, rows, counts, durationNanos, NativeCounts.NONE);
  }

  private static SealedWindow withCompleteness(SealedWindow window, int named, int agents) {
    return Windows.with(
        window,
        "completeness",
        new WindowCompleteness(
            1,
            2,
            Collections.nCopies(named, new WindowCompleteness.Agent(false, 1, 2, "web-1")),
            agents));
  }

  private static SealedWindow withPanes(
      long lengthMillis, long mainMillis, long mergedSpans, WindowPanes.Pane... others) {
    return Windows.with(
        sound(), "panes", new WindowPanes(lengthMillis, mainMillis, mergedSpans, List.of(others)));
  }

  @Test
  void soundWindowsAreWrittenAndRead() throws Exception {
    LogRecord record = record(sound());
    assertThat(payloads.bytes(sound())).isEqualTo(record.payload());
    assertThat(payloads.window(QUEUE, record)).usingRecursiveComparison().isEqualTo(sound());
    SealedWindow withNatives = Windows.with(sound(), "natives", natives(5));
    assertThat(payloads.window(QUEUE, record(withNatives)))
        .usingRecursiveComparison()
        .isEqualTo(withNatives);
    for (long seed = 0; seed < 50; seed++) {
      SealedWindow random = new RandomWindows(seed).next();
      assertThatCode(() -> payloads.bytes(random)).doesNotThrowAnyException();
    }
  }

  /** What a reader could not represent, or already rejects, is refused by the writer. */
  private static SealedWindow planted(String fault) {
    SealedWindow sound = sound();
    return switch (fault) {
      case "negative from" -> Windows.with(sound, "from", -1L);
      case "negative to" -> Windows.with(sound, "to", -1L);
      case "stride" -> Windows.with(sound, "stride", WindowFormat.MAX_STRIDE + 1);
      case "series of other rows" -> Windows.with(sound, "series", new int[] {1});
      case "counts of other rows" -> Windows.with(sound, "counts", new long[] {4, 6, 1});
      case "durations of other rows" -> Windows.with(sound, "durationNanos", new long[3]);
      case "exemplars of other rows" -> Windows.with(sound, "exemplars", new int[] {-1});
      case "buckets of other rows" -> Windows.with(sound, "exemplarBuckets", new int[1]);
      case "carries of other rows" -> Windows.with(sound, "carries", new long[1]);
      case "natives of other rows" ->
          Windows.with(
              sound, "natives", new NativeCounts(new int[] {1}, new int[] {3}, new long[] {4}));
      case "row of no series" -> Windows.with(sound, "series", new int[] {-1, 0});
      case "two rows of a series" -> Windows.with(sound, "series", new int[] {0, 0});
      case "row of too high a series" ->
          Windows.with(sound, "series", new int[] {0, DefinitionFormat.MAX_SERIES});
      case "negative duration" -> Windows.with(sound, "durationNanos", new long[] {0, -1});
      case "negative carry" -> Windows.with(sound, "carries", new long[] {0, -1});
      case "exemplar without document" -> Windows.with(sound, "exemplars", new int[] {1, -1});
      case "exemplar below none" -> Windows.with(sound, "exemplars", new int[] {-2, -1});
      case "exemplar above buckets" -> Windows.with(sound, "exemplarBuckets", new int[] {0, 1});
      case "exemplar below buckets" -> Windows.with(sound, "exemplarBuckets", new int[] {0, -1});
      case "negative count" -> Windows.with(sound, "counts", new long[] {-4, 16});
      case "created series" -> Windows.with(sound, "created", List.of(definition(-1)));
      case "too high a created series" ->
          Windows.with(sound, "created", List.of(definition(DefinitionFormat.MAX_SERIES)));
      case "evicted series" -> Windows.with(sound, "evicted", new int[] {-1});
      case "low kind" -> Windows.with(sound, "documents", List.of(document(-1, 0)));
      case "high kind" -> Windows.with(sound, "documents", List.of(document(6, 0)));
      case "low status" -> Windows.with(sound, "documents", List.of(document(0, -1)));
      case "high status" -> Windows.with(sound, "documents", List.of(document(0, 3)));
      case "negative sequence" -> Windows.with(sound, "batches", batches(1, -1, 4));
      case "run that ends before it begins" -> Windows.with(sound, "batches", batches(1, 5, 4));
      case "adjacent runs" -> Windows.with(sound, "batches", batches(1, 0, 4, 1, 5, 9));
      case "batch in two runs" -> Windows.with(sound, "batches", batches(1, 0, 4, 1, 4, 9));
      case "falling epochs" -> Windows.with(sound, "batches", batches(2, 0, 4, 1, 6, 9));
      case "no length of panes" -> withPanes(0, 0, 0, pane(15_000, 1, 1, 0));
      case "long panes" -> withPanes(3_600_001, 0, 0);
      case "negative length of panes" -> withPanes(-1, 0, 0);
      case "negative merged spans" -> withPanes(15_000, 0, -1);
      case "main pane between two" -> withPanes(15_000, 1, 0);
      case "main pane too early" -> withPanes(15_000, -21_100_000 * 15_000L, 0);
      case "pane between two" -> withPanes(15_000, 0, 0, pane(15_001, 1, 1, 0));
      case "pane too late" -> withPanes(15_000, 0, 0, pane(21_100_000 * 15_000L, 1, 1, 0));
      case "main pane among the others" -> withPanes(15_000, 0, 0, pane(0, 1, 1, 0));
      case "pane twice" -> withPanes(15_000, 0, 0, pane(15_000, 1, 1, 0), pane(15_000, 1, 1, 0));
      case "falling panes" -> withPanes(15_000, 0, 0, pane(30_000, 1, 1, 0), pane(15_000, 1, 1, 0));
      case "too many panes" ->
          withPanes(
              15_000,
              0,
              0,
              IntStream.rangeClosed(1, 256)
                  .mapToObj(i -> pane(i * 15_000L, 1, 0, 0))
                  .toArray(WindowPanes.Pane[]::new));
      case "pane of no rows" ->
          withPanes(15_000, 0, 0, pane(15_000, new int[0], new long[0], new long[0]));
      case "pane of rows out of order" ->
          withPanes(15_000, 0, 0, pane(15_000, new int[] {1, 0}, new long[2], new long[2]));
      case "pane of a row below all" ->
          withPanes(15_000, 0, 0, pane(15_000, new int[] {-1}, new long[1], new long[1]));
      case "pane of a row above all" ->
          withPanes(15_000, 0, 0, pane(15_000, new int[] {2}, new long[1], new long[1]));
      case "pane with counts of other rows" ->
          withPanes(15_000, 0, 0, pane(15_000, new int[] {1}, new long[2], new long[1]));
      case "pane with durations of other rows" ->
          withPanes(15_000, 0, 0, pane(15_000, new int[] {1}, new long[1], new long[2]));
      case "pane with natives" ->
          withPanes(
              15_000,
              0,
              0,
              new WindowPanes.Pane(
                  15_000, new int[] {0, 1}, new long[] {4, 6}, new long[2], natives(5)));
      case "pane with a negative count" -> withPanes(15_000, 0, 0, pane(15_000, 1, -1, 0));
      case "pane with a negative size" ->
          Windows.with(withPanes(15_000, 0, 0, pane(15_000, 1, -1, 0)), "hasSizes", true);
      case "pane with a negative duration" -> withPanes(15_000, 0, 0, pane(15_000, 1, 1, -1));
      case "completeness without panes" -> withCompleteness(sound, 0, 1);
      case "negative number of agents" -> withCompleteness(withPanes(15_000, 0, 0), 0, -1);
      case "many named agents" -> withCompleteness(withPanes(15_000, 0, 0), 17, 1);
      case "closed panes without panes" -> Windows.with(sound, "closedMillis", 0L);
      case "panes closed too late" ->
          Windows.with(withPanes(15_000, 0, 0), "closedMillis", (1L << 62) + 1);
      case "negative size" -> Windows.with(sound, "hasSizes", true, "counts", new long[] {5, -6});
      case "sizes without a number" ->
          Windows.with(sound, "hasSizes", true, "stride", 0, "counts", new long[0]);
      case "negative books" -> Windows.with(sound, "books", List.of(books(1, -1, 0)));
      default -> throw new AssertionError(fault);
    };
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "negative from",
        "negative to",
        "stride",
        "series of other rows",
        "counts of other rows",
        "durations of other rows",
        "exemplars of other rows",
        "buckets of other rows",
        "carries of other rows",
        "natives of other rows",
        "row of no series",
        "two rows of a series",
        "row of too high a series",
        "negative duration",
        "negative carry",
        "exemplar without document",
        "exemplar below none",
        "exemplar above buckets",
        "exemplar below buckets",
        "negative count",
        "negative size",
        "sizes without a number",
        "pane with a negative size",
        "created series",
        "too high a created series",
        "evicted series",
        "low kind",
        "high kind",
        "low status",
        "high status",
        "negative sequence",
        "run that ends before it begins",
        "adjacent runs",
        "batch in two runs",
        "falling epochs",
        "no length of panes",
        "long panes",
        "negative length of panes",
        "negative merged spans",
        "main pane between two",
        "main pane too early",
        "pane between two",
        "pane too late",
        "main pane among the others",
        "pane twice",
        "falling panes",
        "too many panes",
        "pane of no rows",
        "pane of rows out of order",
        "pane of a row below all",
        "pane of a row above all",
        "pane with counts of other rows",
        "pane with durations of other rows",
        "pane with natives",
        "pane with a negative count",
        "pane with a negative duration",
        "completeness without panes",
        "negative number of agents",
        "many named agents",
        "closed panes without panes",
        "panes closed too late",
        "negative books"
      })
  void aWindowThatContradictsItselfIsNotWritten(String fault) {
    SealedWindow planted = planted(fault);

    assertThatThrownBy(() -> payloads.bytes(planted))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("window [");
  }

  @Test
  void spansThatTheBooksLackAreFoundByWriterAndReader() throws Exception {
    assertFound(Windows.with(sound(), "books", List.of(books(13, 9, 1))), "unbalanced books");
    assertFound(Windows.with(sound(), "books", List.of(books(11, 9, 1))), "unbalanced books");
  }

  @Test
  void spansThatTheSeriesLackAreFoundByWriterAndReader() throws Exception {
    assertFound(Windows.with(sound(), "counts", new long[] {4, 5}), "9 spans in its rows and 10");
    assertFound(Windows.with(sound(), "natives", natives(4)), "histogram of 5 spans in a row of 6");
  }

  @Test
  void panesWithMoreThanTheWindowAreFoundByWriterAndReader() throws Exception {
    assertThat(WindowInvariants.violated(withPanes(15_000, 0, 0, pane(15_000, 1, 6, 0)))).isNull();
    assertFound(
        withPanes(15_000, 0, 0, pane(15_000, 1, 7, 0)), "a negative number in the pane at 0");
    assertFound(
        withPanes(15_000, 0, 0, pane(15_000, 1, 1, 1)), "a negative number in the pane at 0");
    assertFound(
        withPanes(15_000, 0, 0, pane(-15_000, 1, 4, 0), pane(15_000, 1, 3, 0)),
        "a negative number in the pane at 0");
  }

  @Test
  void panesWithOtherNativeHistogramsAreFoundByWriterAndReader() throws Exception {
    assertThat(WindowInvariants.violated(withNativePane(5, 7, 4, 1))).isNull();
    assertFound(withNativePane(5, 7, 4, 0), "histogram of 4 spans in a row of 5 of the pane at 15");
    assertFound(withNativePane(5, 7, 5, 1), "histogram of 6 spans in a row of 5 of the pane at 15");
    assertFound(withNativePane(5, 7, 3, 2), "histogram of -1 spans in a row of 1 of the pane at 0");
    assertFound(withNativePane(5, 8, 4, 1), "histogram of 5 spans in a row of 1 of the pane at 0");
  }

  /** The window's second row has 1 span in bucket 3, and 5 in bucket 7. */
  private static SealedWindow withNativePane(long spans, int bucket, long inBucket, long inThird) {
    NativeCounts.Builder ofPane = new NativeCounts.Builder(1);
    ofPane.add(3, inThird);
    ofPane.add(bucket, inBucket);
    ofPane.endRow();
    return Windows.with(
        withPanes(
            15_000,
            0,
            0,
            new WindowPanes.Pane(
                15_000, new int[] {1}, new long[] {spans}, new long[1], ofPane.build())),
        "natives",
        natives(5));
  }

  @Test
  void offsetsBelowZeroAreFoundByTheReader() throws Exception {
    assertFoundWhenRead(Windows.with(sound(), "from", -5L), "negative offset");
  }

  private void assertFound(SealedWindow planted, String message) throws Exception {
    assertThatThrownBy(() -> payloads.bytes(planted))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
    assertFoundWhenRead(planted, message);
  }

  private void assertFoundWhenRead(SealedWindow planted, String message) throws Exception {
    SealedWindow read = payloads.window(QUEUE, record(planted));
    assertThat(WindowInvariants.violated(read)).contains(message);
  }

  /** Returns a record that a writer without assertions would write. */
  private static LogRecord record(SealedWindow window) {
    RecordWriter out = new RecordWriter();
    WindowFormat.encode(window, out);
    return new LogRecord(
        header(RecordKind.WINDOW, window.from(), window.to()), 0, 1, out.toByteArray());
  }

  private static RecordHeader header(RecordKind kind, long from, long to) {
    return new RecordHeader(kind, new UUID(1, 1), 1, 1, from, to, 0);
  }

  @Test
  void rowsOfSeriesThatNothingDefinesAreFound() {
    assertThat(WindowInvariants.undefined(sound(), series -> false)).isEqualTo(-1);
    SealedWindow later = Windows.with(sound(), "created", List.of());
    assertThat(WindowInvariants.undefined(later, series -> true)).isEqualTo(-1);
    assertThat(WindowInvariants.undefined(later, series -> series == 0)).isEqualTo(1);
  }

  @Test
  void aSnapshotEndsWhereItsHeaderSays() throws Exception {
    QueueImage image = Windows.newImage();
    image.to(10);
    byte[] payload = payloads.bytes(image);

    for (long to : new long[] {-1, 10}) {
      LogRecord record = new LogRecord(header(RecordKind.SNAPSHOT, 0, to), 0, 1, payload);
      assertThat(payloads.image(record).to()).isEqualTo(10);
    }
    LogRecord record = new LogRecord(header(RecordKind.SNAPSHOT, 0, 11), 0, 1, payload);
    assertThatThrownBy(() -> payloads.image(record))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining("snapshot to 10");
  }

  @Test
  void aSnapshotOfOtherBucketsHasAPositionAndNoSeries() throws Exception {
    QueueImage image = Windows.newImage();
    image.apply(Windows.window(QUEUE, 0, 10, 4));
    byte[] payload = payloads.bytes(image);
    QueueImage other = new QueueImage(Windows.SCHEMA, 2, 1 << 20);
    SnapshotFormat.decode(payload, 0, payload.length, other);

    assertThat(other.to()).isEqualTo(10);
    assertThat(other.slots()).isZero();
  }
}
