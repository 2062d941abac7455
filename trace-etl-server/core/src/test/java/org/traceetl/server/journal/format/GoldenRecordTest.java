package org.traceetl.server.journal.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.traceetl.server.edge.OpenEdges;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.EdgeHead;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.MeasureForm;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/**
 * Tests the bytes of records. A log keeps records of older servers until the broker deletes them. A
 * changed format needs a new version, which readers must know before writers use it.
 */
class GoldenRecordTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 3);
  private static final WindowCompleteness COMPLETENESS =
      new WindowCompleteness(
          1_699_999_975_000L,
          1_700_000_014_000L,
          List.of(
              new WindowCompleteness.Agent(false, 1, 2, "web-1"),
              new WindowCompleteness.Agent(true, -1, -1, "")),
          3);

  /**
   * @param numbers of halves that left, then of one that was paired
   */
  private static EdgeChange edges(int... numbers) {
    return new EdgeChange(
        1_700_000_014_000L,
        Arrays.copyOf(numbers, numbers.length / 3 * 2),
        Arrays.copyOfRange(numbers, numbers.length / 3 * 2, numbers.length),
        new int[] {9, 2},
        List.of(
            new EdgeHead("till", true, 0, "", 1L << 55),
            new EdgeHead("shop", false, 1, "kafka", 0)),
        List.of(),
        new int[] {0, 1},
        new long[] {0x0123_4567_89AB_CDEFL, -1},
        new int[] {0xBEEF, 7},
        new byte[] {1, 3},
        new long[] {1_000_000, 77},
        new long[] {1_699_999_999_000L, 1_699_999_999_500L},
        new long[] {0, 1_699_999_999_400_000L},
        new long[] {1_700_000_013_900L, 1_700_000_014_000L},
        new boolean[] {false, true});
  }

  private static EdgeChange withDimensions(int... numbers) {
    EdgeChange edges = edges(numbers);
    return Windows.with(
        edges,
        "dimensions",
        List.of("service.namespace", "http.route"),
        "heads",
        List.of(
            edges.heads().get(0).withValues(List.of("market", "")),
            edges.heads().get(1).withValues(List.of("market", "/é"))));
  }

  private static QueueImage receivedImage() {
    return new QueueImage(0x0123_4567_89AB_CDEFL, 10, 1 << 20).keepReceived();
  }

  private static QueueImage paneImage() {
    return receivedImage().keepPanes(wereRead -> true);
  }

  /** Returns the window with native histograms and panes, of which two stay open. */
  private static SealedWindow closingWindow() {
    return Windows.with(
        nativePaneWindow(), "completeness", COMPLETENESS, "closedMillis", 1_699_999_965_000L);
  }

  private static QueueImage edgeImage() {
    return new QueueImage(0x0123_4567_89AB_CDEFL, 10, 1 << 20)
        .keepEdges(() -> new OpenEdges(10, 60_000, 100, List.of(), 1));
  }

  private static SealedWindow window() {
    return window(NativeCounts.NONE);
  }

  /** Series 2 has spans in buckets 0, 200 and 201, series 0 none. */
  private static SealedWindow nativeWindow() {
    NativeCounts.Builder natives = new NativeCounts.Builder(2);
    natives.add(0, 1);
    natives.add(200, 299);
    natives.add(201, 1);
    natives.endRow();
    natives.endRow();
    return window(natives.build());
  }

  /**
   * Returns the window with two panes other than the main one, which began 20 s before the window.
   *
   * @param natives the first has the row of series 2, the second those of both series
   */
  private static SealedWindow paneWindow(SealedWindow window, NativeCounts... natives) {
    WindowPanes.Pane first =
        new WindowPanes.Pane(
            1_699_999_380_000L,
            new int[] {0},
            new long[] {0, 0, 100, 0, 0, 0, 0, 0, 0, 0},
            new long[] {400_000},
            natives[0]);
    WindowPanes.Pane second =
        new WindowPanes.Pane(
            1_699_999_995_000L,
            new int[] {0, 1},
            new long[] {0, 0, 50, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0},
            new long[] {300_000, 77},
            natives[1]);
    return Windows.with(
        window, "panes", new WindowPanes(15_000, 1_699_999_980_000L, 3, List.of(first, second)));
  }

  private static SealedWindow paneWindow() {
    return paneWindow(window(), NativeCounts.NONE, NativeCounts.NONE);
  }

  private static SealedWindow nativePaneWindow() {
    NativeCounts.Builder first = new NativeCounts.Builder(1);
    first.add(200, 100);
    first.endRow();
    NativeCounts.Builder second = new NativeCounts.Builder(2);
    second.add(0, 1);
    second.add(200, 49);
    second.add(201, 1);
    second.endRow();
    second.endRow();
    return paneWindow(nativeWindow(), first.build(), second.build());
  }

  /** Returns the window with panes whose last number of each row is the size, not a bucket. */
  private static SealedWindow sizedWindow() {
    return Windows.with(nativePaneWindow(), "hasSizes", true, "exemplarBuckets", new int[] {0, 8});
  }

  /** Returns a window whose first series is the variance of one of spans. */
  private static SealedWindow varianceWindow(SealedWindow window) {
    return Windows.with(
        window,
        "created",
        List.of(
            new SeriesDefinition(
                0, 1_700_000_000_010L, false, Arrays.asList("shop", "GET /", "18", "0", null, "é")),
            window.created().getLast()));
  }

  /** Returns the window with series that have labels and forms of their own, and with bytes. */
  private static SealedWindow ruledWindow() {
    Form form = new Form(new long[] {2_000_000, 4_500_000}, 3, 1_000_000_000);
    MeasureForm measure =
        new MeasureForm(
            true,
            "{token}",
            "Tokens; used.",
            new Form(new long[] {1, 16_500_000}, null, 1_000_000));
    return Windows.with(
        paneWindow(),
        "created",
        List.of(
            new SeriesDefinition(
                0,
                1_700_000_000_010L,
                false,
                Arrays.asList(
                    "shop", "GET /", "2", "0", null, "é", "", form.text(), "region", "eu")),
            new SeriesDefinition(
                1, 1_700_000_000_010L, true, Arrays.asList("shop", null, "14", "0", null, null)),
            new SeriesDefinition(
                2,
                1_700_000_000_000L,
                false,
                Arrays.asList("shop", "tokens", "14", "0", null, null, "", measure.text()))),
        "books",
        List.of(window().books().getFirst().withBytes(12_345)));
  }

  private static SealedWindow window(NativeCounts natives) {
    AcceptedBatches.Builder batches = new AcceptedBatches.Builder(1);
    batches.add(1, 2, 7, 100, 103);
    batches.add(1, 2, 7, 105, 105);
    batches.add(1, 2, 8, 0, 1);
    batches.add(-1, -1, -9, 0, 0);
    return new SealedWindow(
        QUEUE,
        1_000,
        1_300,
        1_700_000_000_000L,
        1_700_000_015_000L,
        List.of(
            new SeriesDefinition(
                0, 1_700_000_000_010L, false, Arrays.asList("shop", "GET /", "2", "0", null, "é")),
            new SeriesDefinition(
                2, 1_700_000_000_000L, true, Arrays.asList("shop", null, null, null, null, null))),
        new int[] {3, 1},
        2,
        10,
        new int[] {2, 0},
        new long[] {0, 0, 300, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        new long[] {1_000_000, 77},
        new int[] {-1, 0},
        new int[] {0, 9},
        List.of(
            new TraceDocument(
                "0af7651916cd43dd8448eb211c80319c",
                "b7ad6b7169203331",
                "shop",
                "GET /",
                2,
                2,
                "boom",
                1_700_000_001_000_000_000L,
                2_000_000_000,
                TraceDocument.Reason.SLOW,
                Map.of("http.route", "/"))),
        List.of(new Books("shop", 310, 306, 1, 0, 1, Map.of("truncated", 2L), 4)),
        0x0123_4567_89AB_CDEFL,
        new long[] {1L << 39, 0},
        batches.take(),
        natives,
        WindowPanes.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        false,
        EdgeChange.NONE);
  }

  @Test
  void aWindowIsTheseBytes() throws Exception {
    RecordWriter writer = new RecordWriter();
    WindowFormat.encode(window(), writer);
    assertGolden(writer.toByteArray(), "window_1.hex");

    writer.clear();
    WindowFormat.encode(nativeWindow(), writer);
    assertGolden(writer.toByteArray(), "window_2.hex");

    writer.clear();
    WindowFormat.encode(paneWindow(), writer);
    assertGolden(writer.toByteArray(), "window_3.hex");

    writer.clear();
    WindowFormat.encode(nativePaneWindow(), writer);
    assertGolden(writer.toByteArray(), "window_3_native.hex");

    writer.clear();
    WindowFormat.encode(Windows.with(paneWindow(), "completeness", COMPLETENESS), writer);
    assertGolden(writer.toByteArray(), "window_3_complete.hex");

    writer.clear();
    WindowFormat.encode(
        Windows.with(
            paneWindow(), "completeness", COMPLETENESS, "closedMillis", 1_699_999_965_000L),
        writer);
    assertGolden(writer.toByteArray(), "window_3_closed.hex");

    writer.clear();
    WindowFormat.encode(
        Windows.with(
            paneWindow(),
            "completeness",
            COMPLETENESS,
            "closedMillis",
            1_699_999_965_000L,
            "edges",
            edges(7, 2, 5)),
        writer);
    assertGolden(writer.toByteArray(), "window_3_edges.hex");

    writer.clear();
    WindowFormat.encode(Windows.with(paneWindow(), "edges", withDimensions(7, 2, 5)), writer);
    assertGolden(writer.toByteArray(), "window_3_edge_dimensions.hex");

    writer.clear();
    WindowFormat.encode(ruledWindow(), writer);
    assertGolden(writer.toByteArray(), "window_3_ruled.hex");

    writer.clear();
    WindowFormat.encode(sizedWindow(), writer);
    assertGolden(writer.toByteArray(), "window_4.hex");

    writer.clear();
    WindowFormat.encode(varianceWindow(window()), writer);
    assertGolden(writer.toByteArray(), "window_5.hex");
  }

  /** Also with sizes and panes. A window with spans of such series, but no new one, has not. */
  @Test
  void theVersionOfVariancesPrecedesThatOfTheRest() throws Exception {
    RecordWriter writer = new RecordWriter();
    WindowFormat.encode(varianceWindow(sizedWindow()), writer);
    byte[] record = writer.toByteArray();
    assertThat(record).startsWith(WindowFormat.VARIANCES_VERSION, WindowFormat.SIZES_VERSION);
    SealedWindow read = WindowFormat.decode(record, 0, record.length, QUEUE);
    assertThat(read.created()).isEqualTo(varianceWindow(sizedWindow()).created());
    assertThat(read.hasSizes()).isTrue();

    QueueImage image = paneImage();
    image.apply(varianceWindow(closingWindow()));
    writer.clear();
    SnapshotFormat.encode(image, writer);
    byte[] snapshot = writer.toByteArray();
    assertThat(snapshot)
        .startsWith(SnapshotFormat.VARIANCES_VERSION, SnapshotFormat.OPEN_PANES_VERSION);
    QueueImage restored = paneImage();
    SnapshotFormat.decode(snapshot, 0, snapshot.length, restored);
    assertThat(restored.definitions()).isEqualTo(image.definitions());

    image.apply(Windows.with(window(), "created", List.of(), "evicted", new int[] {0}));
    writer.clear();
    SnapshotFormat.encode(image, writer);
    assertThat(writer.toByteArray()).startsWith(SnapshotFormat.OPEN_PANES_VERSION);

    for (int last : new int[] {0, 5}) {
      record[1] = (byte) last;
      assertThatExceptionOfType(MalformedRecordException.class)
          .isThrownBy(() -> WindowFormat.decode(record, 0, record.length, QUEUE))
          .withMessageContaining("version " + last)
          .isNotInstanceOf(UnknownVersionException.class);
    }
  }

  @Test
  void theseBytesAreAWindowWithSizes() throws Exception {
    byte[] golden = golden("window_4.hex");
    SealedWindow read = WindowFormat.decode(golden, 0, golden.length, QUEUE);

    assertThat(read.hasSizes()).isTrue();
    assertThat(read.buckets()).isEqualTo(9);
    assertThat(read.counts()[19]).isEqualTo(1);
    assertThat(read.exemplarBuckets()).containsExactly(8, 0);
    assertThat(read.panes().others()).hasSize(2);
  }

  @Test
  void theseBytesAreAWindowWithHalfEdges() throws Exception {
    byte[] golden = golden("window_3_edges.hex");
    SealedWindow read = WindowFormat.decode(golden, 0, golden.length, QUEUE);

    assertThat(read.closedMillis()).isEqualTo(1_699_999_965_000L);
    assertThat(read.edges()).usingRecursiveComparison().isEqualTo(edges(2, 7, 5));
  }

  @Test
  void theseBytesAreAWindowWithDimensionsOfHalfEdges() throws Exception {
    byte[] golden = golden("window_3_edge_dimensions.hex");
    SealedWindow read = WindowFormat.decode(golden, 0, golden.length, QUEUE);

    assertThat(read.edges()).usingRecursiveComparison().isEqualTo(withDimensions(2, 7, 5));
  }

  @Test
  void theseBytesAreAWindowWithLabelsFormsAndBytes() throws Exception {
    byte[] golden = golden("window_3_ruled.hex");
    SealedWindow read = WindowFormat.decode(golden, 0, golden.length, QUEUE);

    assertThat(read.created()).isEqualTo(ruledWindow().created());
    assertThat(read.books()).isEqualTo(ruledWindow().books());
    assertThat(Form.parse("unit=s;bounds=2,4.5;native=3").text())
        .isEqualTo(read.created().getFirst().values().get(7));
    assertThat(MeasureForm.parse(read.created().getLast().values().getLast()).help())
        .isEqualTo("Tokens; used.");
  }

  @Test
  void theseBytesAreAWindowWithClosedPanes() throws Exception {
    byte[] golden = golden("window_3_closed.hex");
    SealedWindow read = WindowFormat.decode(golden, 0, golden.length, QUEUE);

    assertThat(read.completeness()).isEqualTo(COMPLETENESS);
    assertThat(read.closedMillis()).isEqualTo(1_699_999_965_000L);
  }

  @Test
  void theseBytesAreAWindowWithCompleteness() throws Exception {
    byte[] golden = golden("window_3_complete.hex");
    SealedWindow read = WindowFormat.decode(golden, 0, golden.length, QUEUE);

    assertThat(read.completeness()).isEqualTo(COMPLETENESS);
    assertThat(read.closedMillis()).isEqualTo(SealedWindow.UNKNOWN_CLOSED);
    assertThat(read.panes().others()).hasSize(2);
  }

  @Test
  void theseBytesAreAWindowWithPanes() throws Exception {
    for (String name : List.of("window_3.hex", "window_3_native.hex")) {
      byte[] golden = golden(name);
      SealedWindow read = WindowFormat.decode(golden, 0, golden.length, QUEUE);
      WindowPanes panes = read.panes();
      WindowPanes.Pane first = panes.others().getFirst();
      WindowPanes.Pane second = panes.others().getLast();
      WindowPanes.Pane main = panes.main(read);

      assertThat(panes.lengthMillis()).isEqualTo(15_000);
      assertThat(panes.mainMillis()).isEqualTo(1_699_999_980_000L);
      assertThat(panes.mergedSpans()).isEqualTo(3);
      assertThat(panes.others()).hasSize(2);
      assertThat(first.startMillis()).isEqualTo(1_699_999_380_000L);
      assertThat(first.rows()).containsExactly(1);
      assertThat(first.counts()).containsExactly(0, 0, 100, 0, 0, 0, 0, 0, 0, 0);
      assertThat(first.durationNanos()).containsExactly(400_000);
      assertThat(second.startMillis()).isEqualTo(1_699_999_995_000L);
      assertThat(second.rows()).containsExactly(0, 1);
      assertThat(second.counts())
          .containsExactly(5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0, 0, 0, 0, 0, 1);
      assertThat(second.durationNanos()).containsExactly(77, 300_000);
      assertThat(main.rows()).containsExactly(1);
      assertThat(main.counts()).containsExactly(0, 0, 150, 0, 0, 0, 0, 0, 0, 0);
      assertThat(main.durationNanos()).containsExactly(300_000);
      if (read.natives().isEmpty()) {
        assertThat(main.natives()).isEqualTo(NativeCounts.NONE);
      } else {
        assertThat(first.natives().counts()).containsExactly(100);
        assertThat(second.natives().ends()).containsExactly(0, 3);
        assertThat(second.natives().counts()).containsExactly(1, 49, 1);
        assertThat(main.natives().buckets()).containsExactly(200);
        assertThat(main.natives().counts()).containsExactly(150);
      }
    }
  }

  @Test
  void theseBytesAreAWindowWithNativeHistograms() throws Exception {
    byte[] golden = golden("window_2.hex");
    SealedWindow read = WindowFormat.decode(golden, 0, golden.length, QUEUE);

    assertThat(read.series()).containsExactly(0, 2);
    assertThat(read.natives().ends()).containsExactly(0, 3);
    assertThat(read.natives().buckets()).containsExactly(0, 200, 201);
    assertThat(read.natives().counts()).containsExactly(1, 299, 1);
  }

  @Test
  void theseBytesAreAWindow() throws Exception {
    byte[] golden = golden("window_1.hex");
    SealedWindow read = WindowFormat.decode(golden, 0, golden.length, QUEUE);

    assertThat(read.series()).containsExactly(0, 2);
    assertThat(read.durationNanos()).containsExactly(77, 1_000_000);
    assertThat(read.carries()).containsExactly(0, 1L << 39);
    assertThat(read)
        .usingRecursiveComparison()
        .ignoringFields(
            "series", "counts", "durationNanos", "exemplars", "exemplarBuckets", "carries")
        .isEqualTo(window());
  }

  @Test
  void aSnapshotIsTheseBytes() throws Exception {
    QueueImage image = new QueueImage(0x0123_4567_89AB_CDEFL, 10, 1 << 20);
    image.apply(window());
    RecordWriter writer = new RecordWriter();
    SnapshotFormat.encode(image, writer);

    assertGolden(writer.toByteArray(), "snapshot_1.hex");

    image = new QueueImage(0x0123_4567_89AB_CDEFL, 10, 1 << 20);
    image.apply(nativeWindow());
    writer.clear();
    SnapshotFormat.encode(image, writer);
    assertGolden(writer.toByteArray(), "snapshot_2.hex");

    image = receivedImage();
    image.apply(window());
    writer.clear();
    SnapshotFormat.encode(image, writer);
    assertGolden(writer.toByteArray(), "snapshot_3.hex");

    image = paneImage();
    image.apply(closingWindow());
    writer.clear();
    SnapshotFormat.encode(image, writer);
    assertGolden(writer.toByteArray(), "snapshot_4.hex");

    image = edgeImage();
    image.apply(
        Windows.with(new RowlessWindow(QUEUE, 1_000, 1_300, 0, 0).seal(), "edges", edges()));
    writer.clear();
    SnapshotFormat.encode(image, writer);
    assertGolden(writer.toByteArray(), "snapshot_5.hex");

    image = new QueueImage(0x0123_4567_89AB_CDEFL, 10, 1 << 20);
    image.apply(varianceWindow(window()));
    writer.clear();
    SnapshotFormat.encode(image, writer);
    assertGolden(writer.toByteArray(), "snapshot_6.hex");
  }

  @Test
  void theseBytesAreRecordsWithVariances() throws Exception {
    byte[] ofWindow = golden("window_5.hex");
    SealedWindow read = WindowFormat.decode(ofWindow, 0, ofWindow.length, QUEUE);
    assertThat(read.created().getFirst().isOfVariance()).isTrue();

    byte[] golden = golden("snapshot_6.hex");
    QueueImage image = new QueueImage(0x0123_4567_89AB_CDEFL, 10, 1 << 20);
    SnapshotFormat.decode(golden, 0, golden.length, image);
    assertThat(image.definition(0)).isEqualTo(read.created().getFirst());
    assertThat(image.count(0, 0)).isEqualTo(5);
  }

  @Test
  void theseBytesAreASnapshotWithHalfEdges() throws Exception {
    byte[] golden = golden("snapshot_5.hex");
    QueueImage read = edgeImage();
    SnapshotFormat.decode(golden, 0, golden.length, read);

    assertThat(read.to()).isEqualTo(1_300);
    assertThat(read.edges().all()).usingRecursiveComparison().isEqualTo(edges());
  }

  @Test
  void theseBytesAreASnapshotWithSpansReceived() throws Exception {
    byte[] golden = golden("snapshot_3.hex");
    QueueImage read = receivedImage();
    SnapshotFormat.decode(golden, 0, golden.length, read);

    assertThat(read.count(2, 2)).isEqualTo(300);
    assertThat(read.received().size()).isEqualTo(1);
    read.received()
        .forEach(one -> {
          assertThat(one.application()).isEqualTo("shop");
          assertThat(one.spans()).isEqualTo(309);
        });
  }

  @Test
  void theseBytesAreASnapshotWithOpenPanes() throws Exception {
    byte[] golden = golden("snapshot_4.hex");
    QueueImage read = paneImage();
    SnapshotFormat.decode(golden, 0, golden.length, read);

    assertThat(read.completeness()).isEqualTo(COMPLETENESS);
    assertThat(read.closedMillis()).isEqualTo(1_699_999_965_000L);
    assertThat(read.hasPanes()).isTrue();
    assertThat(read.openPanes().closedMillis()).isEqualTo(1_699_999_965_000L);
    assertThat(read.openPanes().panes()).hasSize(2);
    assertThat(read.count(2, 2)).isEqualTo(300);
    RecordWriter again = new RecordWriter();
    SnapshotFormat.encode(read, again);
    assertThat(again.toByteArray()).isEqualTo(golden);
  }

  @Test
  void theseBytesAreASnapshotWithNativeHistograms() throws Exception {
    byte[] golden = golden("snapshot_2.hex");
    QueueImage read = new QueueImage(0x0123_4567_89AB_CDEFL, 10, 1 << 20);
    SnapshotFormat.decode(golden, 0, golden.length, read);

    NativeTotals natives = new NativeTotals();
    read.copyNative(2, natives, 0);
    assertThat(natives.size(0)).isEqualTo(3);
    assertThat(natives.bucket(0, 1)).isEqualTo(200);
    assertThat(natives.count(0, 1)).isEqualTo(299);
    read.copyNative(0, natives, 0);
    assertThat(natives.size(0)).isZero();
  }

  @Test
  void theseBytesAreASnapshot() throws Exception {
    byte[] golden = golden("snapshot_1.hex");
    QueueImage read = new QueueImage(0x0123_4567_89AB_CDEFL, 10, 1 << 20);
    SnapshotFormat.decode(golden, 0, golden.length, read);

    assertThat(read.to()).isEqualTo(1_300);
    assertThat(read.definition(0)).isEqualTo(window().created().getFirst());
    assertThat(read.definition(1)).isNull();
    assertThat(read.definition(2)).isEqualTo(window().created().getLast());
    assertThat(read.count(0, 0)).isEqualTo(5);
    assertThat(read.count(2, 2)).isEqualTo(300);
    assertThat(read.count(2, 9)).isEqualTo(1);
    assertThat(read.sumMillis(2)).isEqualTo(1);
    assertThat(read.sumNanos(0)).isEqualTo(77);
    assertThat(read.touchedMillis(2)).isEqualTo(1_700_000_000_000L);
    assertThat(read.carry(2)).isEqualTo(1L << 39);
    assertThat(read.history().agents()).isEqualTo(2);
    assertThat(read.history().isFirst(1, 2, 7, 104, 0)).isTrue();
    assertThat(read.history().isFirst(1, 2, 7, 105, 0)).isFalse();
    assertThat(read.history().isFirst(-1, -1, -9, 0, 0)).isFalse();
  }

  private static void assertGolden(byte[] record, String name) throws IOException {
    assertThat(HexFormat.of().formatHex(record)).isEqualTo(HexFormat.of().formatHex(golden(name)));
  }

  /** Reads a file of hex digits; # starts a comment. */
  static byte[] golden(String name) throws IOException {
    try (InputStream in = GoldenRecordTest.class.getResourceAsStream(name)) {
      String hex =
          new String(in.readAllBytes(), UTF_8)
              .lines()
              .map(line -> line.replaceAll("#.*|\\s", ""))
              .collect(Collectors.joining());
      return HexFormat.of().parseHex(hex);
    }
  }
}
