package org.traceetl.server.journal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Reads bytes that only a faulty or foreign writer makes. */
class MalformedRecordsTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final byte[] SPAN_ID = {9, 9, 9, 9, 9, 9, 9, 9};

  private final RecordWriter out = new RecordWriter();

  private RecordReader reader() {
    return new RecordReader(out.buffer(), 0, out.size());
  }

  private static LogRecord record(RecordKind kind, long from, long to, byte[] payload) {
    return new LogRecord(new RecordHeader(kind, new UUID(1, 1), 1, 1, from, to, 0), 0, 1, payload);
  }

  @Test
  void aWindowMustHaveTheOffsetsOfItsHeader() {
    RecordPayloads payloads = new RecordPayloads(Windows::newImage);
    byte[] window = payloads.bytes(Windows.window(QUEUE, 0, 10, 1));

    assertThatThrownBy(() -> payloads.window(QUEUE, record(RecordKind.WINDOW, 1, 10, window)))
        .isInstanceOf(MalformedRecordException.class);
    assertThatThrownBy(() -> payloads.window(QUEUE, record(RecordKind.WINDOW, 0, 11, window)))
        .isInstanceOf(MalformedRecordException.class);
  }

  @Test
  void aTextRefersOnlyToOneThatWasWritten() {
    out.unsigned(RecordWriter.KNOWN);
    assertThatThrownBy(() -> reader().text()).hasMessageContaining("text 0 of 0");
    out.clear();
    out.unsigned(-1);
    assertThatThrownBy(() -> reader().text()).hasMessageContaining("refers to text");
  }

  @Test
  void noRunFollowsTheLastSequence() {
    out.unsigned(2);
    out.signed(1);
    out.unsigned(Long.MAX_VALUE - 1);
    out.unsigned(0);
    out.unsigned(0);
    assertThatThrownBy(
            () -> BatchesFormat.read(reader(), 1, 1, (high, low, epoch, first, last) -> {}))
        .hasMessageContaining("after the last sequence");
  }

  @Test
  void aClaimWithNoPlacesHasNone() throws Exception {
    LogRecord none = record(RecordKind.CLAIM, -1, -1, new byte[] {2, 0});

    assertThat(LastMessagesFormat.decode(none)).isEqualTo(LastMessages.NONE);
    assertThat(LastMessagesFormat.decode(record(RecordKind.CLAIM, -1, -1, new byte[0]))).isNull();
  }

  @Test
  void aWindowWithTwoRowsOfASeriesIsNotWritten() {
    SealedWindow window = Windows.window(QUEUE, 0, 10, 1, 2);
    window.series()[1] = window.series()[0];

    assertThatThrownBy(() -> WindowFormat.encode(window, out))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("two rows of series 0");
  }

  @Test
  void documentsOfAnUnknownReasonKindOrStatusAreMalformed() {
    TraceDocument document =
        new TraceDocument(
            "0".repeat(32),
            "09".repeat(8),
            "shop",
            "pay",
            1,
            1,
            "",
            0,
            1,
            TraceDocument.Reason.ERROR,
            Map.of());
    WindowFormat.encode(
        new RowlessWindow(QUEUE, 0, 10, 0, 0).documents(List.of(document)).seal(), out);
    byte[] bytes = out.toByteArray();
    int head = 0;
    while (!Arrays.equals(bytes, head, head + 8, SPAN_ID, 0, 8)) {
      head++;
    }
    for (int wrong : new int[] {3 << 5 | 1 << 2 | 1, 6 << 2 | 1, 1 << 2 | 3}) {
      bytes[head + 8] = (byte) wrong;
      assertThatThrownBy(() -> WindowFormat.decode(bytes, 0, bytes.length, QUEUE))
          .isInstanceOf(MalformedRecordException.class)
          .hasMessageContaining("has a document of reason");
    }
  }

  /**
   * Writes panes of a window opened at 150,000 ms: the main one begins then, and one 15 s later.
   *
   * @param rows steps of its rows, each with a span that lasts 7 ns
   */
  private void writePanes(long lengthMillis, long toMain, long step, long... rows) {
    out.clear();
    out.unsigned(lengthMillis);
    out.signed(toMain);
    out.unsigned(0);
    out.unsigned(1);
    out.signed(step);
    out.unsigned(rows.length);
    for (long row : rows) {
      out.unsigned(row);
      out.sparse(new long[] {1}, 0, 1);
      out.unsigned(7);
    }
  }

  private WindowPanes panes() throws MalformedRecordException {
    return PanesFormat.read(reader(), 150_000, 3, 1, false);
  }

  private void assertMalformedPanes(String message) {
    assertThatThrownBy(this::panes)
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining(message);
  }

  @Test
  void panesHaveALengthAndAPlaceNearTheirWindow() throws Exception {
    writePanes(15_000, 0, 1, 0, 1);
    assertThat(panes().mainMillis()).isEqualTo(150_000);
    assertThat(panes().others().getFirst().startMillis()).isEqualTo(165_000);
    assertThat(panes().others().getFirst().rows()).containsExactly(0, 2);

    writePanes(0, 0, 1, 0);
    assertMalformedPanes("panes of 0 ms");
    writePanes(3_600_001, 0, 1, 0);
    assertMalformedPanes("length of panes");
    for (long far : new long[] {21_041_281, -21_041_281, Long.MAX_VALUE, Long.MIN_VALUE}) {
      writePanes(15_000, far, 1, 0);
      assertMalformedPanes("a step of " + far + " panes");
    }
    for (long far : new long[] {21_041_281, -21_041_281}) {
      writePanes(15_000, 0, far, 0);
      assertMalformedPanes("a step of " + far + " panes");
    }
    for (long far : new long[] {Long.MAX_VALUE, Long.MIN_VALUE}) {
      writePanes(15_000, -21_041_280, far, 0);
      assertMalformedPanes("a step of " + far + " panes");
    }
    writePanes(15_000, 0, 0, 0);
    assertMalformedPanes("main pane among the others");
    writePanes(15_000, 0, 1, 0);
    for (long opened : new long[] {Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> PanesFormat.read(reader(), opened, 3, 1, false))
          .isInstanceOf(MalformedRecordException.class)
          .hasMessageContaining("opened at " + opened);
    }
  }

  @Test
  void panesFurthestFromTheirWindowAreWrittenAndRead() throws Exception {
    for (long number : new long[] {-21_041_280, 21_041_280}) {
      writePanes(15_000, -number, -number, 0);
      long startMillis = 150_000 + number * 15_000;
      assertThat(panes().mainMillis()).isEqualTo(startMillis);
      assertThat(panes().others().getFirst().startMillis()).isEqualTo(150_000);
      SealedWindow window =
          Windows.with(
              Windows.window(QUEUE, 0, 10, 1),
              "openedMillis",
              164_999L,
              "panes",
              new WindowPanes(15_000, startMillis, 0, List.of()));
      byte[] bytes = new RecordPayloads(Windows::newImage).bytes(window);
      assertThat(WindowFormat.decode(bytes, 0, bytes.length, QUEUE).panes().mainMillis())
          .isEqualTo(startMillis);
    }
  }

  @Test
  void rowsOfAPaneAreThoseOfTheWindow() {
    writePanes(15_000, 0, 1);
    assertMalformedPanes("a pane of 0 rows");
    writePanes(15_000, 0, 1, 3);
    assertMalformedPanes("step of a pane's rows = 3: must be at most 2");
    writePanes(15_000, 0, 1, 1, 1);
    assertMalformedPanes("step of a pane's rows = 1: must be at most 0");
    writePanes(15_000, 0, 1, -1);
    assertMalformedPanes("step of a pane's rows");
    writePanes(15_000, 0, 1, 0, 0, 0, 0);
    assertMalformedPanes("a pane of 4 rows in a window of 3");
  }

  @Test
  void panesAreAtMost256() throws Exception {
    for (int panes : new int[] {255, 256}) {
      out.clear();
      out.unsigned(15_000);
      out.signed(0);
      out.unsigned(0);
      out.unsigned(panes);
      out.signed(1);
      for (int pane = 0; pane < panes; pane++) {
        if (pane > 0) {
          out.unsigned(0);
        }
        out.unsigned(1);
        out.unsigned(0);
        out.sparse(new long[] {1}, 0, 1);
        out.unsigned(7);
      }
      if (panes == 255) {
        assertThat(panes().others()).hasSize(255);
      } else {
        assertMalformedPanes("has panes = 256: must be at most 255");
      }
    }
  }

  /** Returns a window with panes, and the given bytes in place of those of its extensions. */
  private byte[] extended(int... extensions) {
    out.clear();
    WindowFormat.encode(
        Windows.with(
            Windows.window(QUEUE, 0, 10, 1, 2), "panes", new WindowPanes(15_000, 0, 0, List.of())),
        out);
    byte[] bytes = Arrays.copyOf(out.buffer(), out.size() - 1 + extensions.length);
    for (int i = 0; i < extensions.length; i++) {
      bytes[out.size() - 1 + i] = (byte) extensions[i];
    }
    return bytes;
  }

  @Test
  void extensionsAreSkipped() throws Exception {
    byte[] bytes = extended(2, 4, 3, 0xff, 0xff, 0xff, 0x81, 0x01, 0);
    SealedWindow read = WindowFormat.decode(bytes, 0, bytes.length, QUEUE);

    assertThat(read.panes().lengthMillis()).isEqualTo(15_000);
    assertThat(read.counts()).containsExactly(1, 2);
  }

  @Test
  void extensionsEndWithTheRecord() {
    int[][] malformed = {
      {},
      {1},
      {1, 2},
      {1, 2, 2, 0},
      {1, 2, 1, 0, 0},
      {2, 2, 0},
      {1, 2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0},
      {0xff, 0xff, 0xff, 0xff, 0x0f, 2, 0},
      {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0}
    };
    for (int[] extensions : malformed) {
      byte[] bytes = extended(extensions);
      assertThatThrownBy(() -> WindowFormat.decode(bytes, 0, bytes.length, QUEUE))
          .isInstanceOf(MalformedRecordException.class);
    }
  }

  /** Returns a window with these bytes instead of until when its spans are complete. */
  private byte[] complete(int... bytes) {
    int[] extensions = new int[bytes.length + 3];
    extensions[0] = 1;
    extensions[1] = 1;
    extensions[2] = bytes.length;
    System.arraycopy(bytes, 0, extensions, 3, bytes.length);
    return extended(extensions);
  }

  @Test
  void laterBytesOfCompletenessAreSkipped() throws Exception {
    byte[] bytes = complete(9, 14, 0, 2, 0xff);
    SealedWindow read = WindowFormat.decode(bytes, 0, bytes.length, QUEUE);

    assertThat(read.completeness()).isEqualTo(new WindowCompleteness(-5, 7, List.of(), 2));
  }

  @Test
  void completenessEndsWithItsExtension() {
    int[][] malformed = {
      {},
      {9},
      {9, 14},
      {9, 14, 0},
      {9, 14, 17},
      {9, 14, 1, 1},
      {9, 14, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 1},
      {9, 14, 1, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 1},
      {9, 14, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1},
      {9, 14, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 9, 1},
      {9, 14, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 2, 1},
      {9, 14, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}
    };
    for (int[] extension : malformed) {
      byte[] bytes = complete(extension);
      assertThatThrownBy(() -> WindowFormat.decode(bytes, 0, bytes.length, QUEUE))
          .isInstanceOf(MalformedRecordException.class);
    }
  }

  @Test
  void laterBytesOfClosedPanesAreSkipped() throws Exception {
    byte[] bytes = extended(1, 2, 2, 9, 0xff);
    SealedWindow read = WindowFormat.decode(bytes, 0, bytes.length, QUEUE);

    assertThat(read.closedMillis()).isEqualTo(-5);
    assertThat(read.completeness()).isEqualTo(WindowCompleteness.NONE);
  }

  @Test
  void panesAreClosedUntilATimeOfTheirJournal() {
    int[][] malformed = {
      {},
      {0x80},
      // -(1 << 62) - 1, and the least number.
      {0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
    };
    for (int[] closed : malformed) {
      int[] extensions = new int[closed.length + 3];
      extensions[0] = 1;
      extensions[1] = 2;
      extensions[2] = closed.length;
      System.arraycopy(closed, 0, extensions, 3, closed.length);
      byte[] bytes = extended(extensions);
      assertThatThrownBy(() -> WindowFormat.decode(bytes, 0, bytes.length, QUEUE))
          .isInstanceOf(MalformedRecordException.class);
    }
  }

  @Test
  void aFlagOfALaterServerIsMalformed() {
    byte[] bytes = extended(0);
    bytes[1] = 2;

    assertThatThrownBy(() -> WindowFormat.decode(bytes, 0, bytes.length, QUEUE))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining("flags");
  }

  @Test
  void eachDamagedByteOfAWindowWithPanesIsReadOrRefused() throws Exception {
    for (String name : List.of("window_3.hex", "window_3_native.hex", "window_3_closed.hex")) {
      byte[] golden = GoldenRecordTest.golden(name);
      for (int at = 1; at < golden.length; at++) {
        for (int bit = 0; bit < Byte.SIZE; bit++) {
          byte[] damaged = golden.clone();
          damaged[at] ^= (byte) (1 << bit);
          readOrRefuse(damaged);
        }
      }
    }
  }

  private static void readOrRefuse(byte[] bytes) {
    SealedWindow read;
    try {
      read = WindowFormat.decode(bytes, 0, bytes.length, QUEUE);
    } catch (MalformedRecordException e) {
      assertThat(e).hasMessageStartingWith("record ");
      return;
    }
    String violated = WindowInvariants.violated(read);
    long[] main = read.panes().main(read).counts();
    assertThat(violated != null || Arrays.stream(main).allMatch(spans -> spans >= 0)).isTrue();
  }
}
