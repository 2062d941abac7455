package org.traceetl.server.journal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
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

class WindowInvariantsTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);

  private final RecordPayloads payloads = new RecordPayloads(Windows::newImage);

  /** A window with two series of 4 and 6 spans, and their books. */
  private static SealedWindow sound() {
    return with(
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

  /**
   * @param changes name and value of each component to replace
   */
  private static SealedWindow with(SealedWindow window, Object... changes) {
    try {
      RecordComponent[] components = SealedWindow.class.getRecordComponents();
      Object[] values = new Object[components.length];
      for (int i = 0; i < components.length; i++) {
        values[i] = components[i].getAccessor().invoke(window);
        for (int change = 0; change < changes.length; change += 2) {
          if (components[i].getName().equals(changes[change])) {
            values[i] = changes[change + 1];
          }
        }
      }
      Class<?>[] types =
          Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      return SealedWindow.class.getConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
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

  @Test
  void soundWindowsAreWrittenAndRead() throws Exception {
    LogRecord record = record(sound());
    assertThat(payloads.bytes(sound())).isEqualTo(record.payload());
    assertThat(payloads.window(QUEUE, record)).usingRecursiveComparison().isEqualTo(sound());
    SealedWindow withNatives = with(sound(), "natives", natives(5));
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
      case "negative from" -> with(sound, "from", -1L);
      case "negative to" -> with(sound, "to", -1L);
      case "stride" -> with(sound, "stride", WindowFormat.MAX_STRIDE + 1);
      case "series of other rows" -> with(sound, "series", new int[] {1});
      case "counts of other rows" -> with(sound, "counts", new long[] {4, 6, 1});
      case "durations of other rows" -> with(sound, "durationNanos", new long[3]);
      case "exemplars of other rows" -> with(sound, "exemplars", new int[] {-1});
      case "buckets of other rows" -> with(sound, "exemplarBuckets", new int[1]);
      case "carries of other rows" -> with(sound, "carries", new long[1]);
      case "natives of other rows" ->
          with(sound, "natives", new NativeCounts(new int[] {1}, new int[] {3}, new long[] {4}));
      case "row of no series" -> with(sound, "series", new int[] {-1, 0});
      case "two rows of a series" -> with(sound, "series", new int[] {0, 0});
      case "row of too high a series" ->
          with(sound, "series", new int[] {0, DefinitionFormat.MAX_SERIES});
      case "negative duration" -> with(sound, "durationNanos", new long[] {0, -1});
      case "negative carry" -> with(sound, "carries", new long[] {0, -1});
      case "exemplar without document" -> with(sound, "exemplars", new int[] {1, -1});
      case "exemplar below none" -> with(sound, "exemplars", new int[] {-2, -1});
      case "exemplar above buckets" -> with(sound, "exemplarBuckets", new int[] {0, 1});
      case "exemplar below buckets" -> with(sound, "exemplarBuckets", new int[] {0, -1});
      case "negative count" -> with(sound, "counts", new long[] {-4, 16});
      case "created series" -> with(sound, "created", List.of(definition(-1)));
      case "too high a created series" ->
          with(sound, "created", List.of(definition(DefinitionFormat.MAX_SERIES)));
      case "evicted series" -> with(sound, "evicted", new int[] {-1});
      case "low kind" -> with(sound, "documents", List.of(document(-1, 0)));
      case "high kind" -> with(sound, "documents", List.of(document(6, 0)));
      case "low status" -> with(sound, "documents", List.of(document(0, -1)));
      case "high status" -> with(sound, "documents", List.of(document(0, 3)));
      case "negative sequence" -> with(sound, "batches", batches(1, -1, 4));
      case "run that ends before it begins" -> with(sound, "batches", batches(1, 5, 4));
      case "adjacent runs" -> with(sound, "batches", batches(1, 0, 4, 1, 5, 9));
      case "batch in two runs" -> with(sound, "batches", batches(1, 0, 4, 1, 4, 9));
      case "falling epochs" -> with(sound, "batches", batches(2, 0, 4, 1, 6, 9));
      case "negative books" -> with(sound, "books", List.of(books(1, -1, 0)));
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
    assertFound(with(sound(), "books", List.of(books(13, 9, 1))), "unbalanced books");
    assertFound(with(sound(), "books", List.of(books(11, 9, 1))), "unbalanced books");
  }

  @Test
  void spansThatTheSeriesLackAreFoundByWriterAndReader() throws Exception {
    assertFound(with(sound(), "counts", new long[] {4, 5}), "9 spans in its rows and 10");
    assertFound(with(sound(), "natives", natives(4)), "histogram of 5 spans in a row of 6");
  }

  @Test
  void offsetsBelowZeroAreFoundByTheReader() throws Exception {
    assertFoundWhenRead(with(sound(), "from", -5L), "negative offset");
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
    SealedWindow later = with(sound(), "created", List.of());
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
