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
}
