package org.traceetl.server.journal.chain;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Properties;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.LastMessagesFormat;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.RecordChunk;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordKind;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.journal.log.AuthenticatedFormat;
import org.traceetl.server.journal.log.AuthenticatedFormat.Sealed;
import org.traceetl.server.journal.log.JournalKey;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/**
 * Tests the bytes of a journal's messages of each kind, without and with an authentication code.
 * {@code GoldenRecordTest} has the payloads of windows and snapshots.
 */
class GoldenMessagesTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 3);
  private static final UUID WRITER = new UUID(0x0123_4567_89AB_CDEFL, 0xFEDC_BA98_7654_3210L);
  private static final long MILLIS = 1_800_000_000_000L;
  private static final LastMessages PLACES =
      LastMessages.NONE.with(1_000, 0xCAFE_BABE, 2).with(1_300, 7, 2);
  private static final StepOverRecord STEP =
      StepOverRecord.over(513, new byte[] {1, 2, 3}, "größer als erlaubt");

  private final ChunkFormat format =
      new ChunkFormat("trace-spans", QUEUE, ChunkFormat.MAX_PAYLOAD_BYTES);
  private final AuthenticatedFormat authenticated = new AuthenticatedFormat("trace-windows", QUEUE);
  private final JournalKey key = new JournalKey("k1", new byte[32]);

  @SuppressWarnings("ImmutableEnumChecker") // Nothing changes them.
  enum Message {
    CLAIM(header(RecordKind.CLAIM, 7, 42, JournalLog.NONE, 1_000)),
    REPEATED_CLAIM(
        header(RecordKind.CLAIM, 7, 43, 1_300, 1_300), new RecordPayloads(null).bytes(PLACES)),
    WINDOW(header(RecordKind.WINDOW, 7, 43, 1_000, 1_300), 1, 2, 3),
    SNAPSHOT(header(RecordKind.SNAPSHOT, 7, 43, 99, 1_300), 4, 5),
    RELEASE(header(RecordKind.RELEASE, 7, 43, JournalLog.NONE, 1_300)),
    BARRIER(header(RecordKind.RELEASE, 0, 0, JournalLog.NONE, JournalLog.NONE)),
    STEP_OVER(STEP.header(WRITER, MILLIS), STEP.payload());

    private final RecordHeader header;
    private final byte[] payload;

    Message(RecordHeader header, int... payload) {
      this(header, bytes(payload));
    }

    Message(RecordHeader header, byte[] payload) {
      this.header = header;
      this.payload = payload;
    }

    private static byte[] bytes(int[] values) {
      byte[] bytes = new byte[values.length];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) values[i];
      }
      return bytes;
    }
  }

  private static RecordHeader header(RecordKind kind, long epoch, long number, long from, long to) {
    return new RecordHeader(kind, WRITER, epoch, number, from, to, MILLIS);
  }

  @ParameterizedTest
  @EnumSource
  void aMessageIsTheseBytes(Message message) throws IOException {
    assertThat(format.write(message.header, message.payload))
        .extracting(HexFormat.of()::formatHex)
        .containsExactly(golden(message.name()));
  }

  @ParameterizedTest
  @EnumSource
  void theseBytesAreAMessage(Message message) throws IOException {
    byte[] golden = HexFormat.of().parseHex(golden(message.name()));

    assertThat(format.rejection(golden)).isNull();
    RecordChunk read = format.read(golden);
    assertThat(read.header()).isEqualTo(message.header);
    assertThat(read.count()).isEqualTo(1);
    assertThat(Arrays.copyOfRange(golden, ChunkFormat.HEADER_BYTES, golden.length))
        .isEqualTo(message.payload);
  }

  @Test
  void theseBytesArePlacesAndAStep() throws Exception {
    byte[] claim = HexFormat.of().parseHex(golden("REPEATED_CLAIM"));
    byte[] payload = Arrays.copyOfRange(claim, ChunkFormat.HEADER_BYTES, claim.length);

    assertThat(LastMessagesFormat.decode(new LogRecord(format.read(claim).header(), 0, 1, payload)))
        .isEqualTo(PLACES);
    assertThat(StepOverRecord.read(HexFormat.of().parseHex(golden("STEP_OVER")), format))
        .isEqualTo(STEP);
  }

  @Test
  void aMessageWithACodeIsTheseBytes() throws IOException {
    byte[] claim = HexFormat.of().parseHex(golden("CLAIM"));
    byte[] id = key.id().getBytes(US_ASCII);

    assertThat(
            HexFormat.of().formatHex(authenticated.seal(AuthenticatedFormat.MESSAGE, claim, key)))
        .isEqualTo(golden("AUTHENTICATED"));
    assertThat(HexFormat.of().formatHex(authenticated.seal(AuthenticatedFormat.KEY, id, key)))
        .isEqualTo(golden("KEY"));
    Sealed sealed = AuthenticatedFormat.parse(HexFormat.of().parseHex(golden("AUTHENTICATED")));
    assertThat(sealed.keyId()).isEqualTo(key.id());
    assertThat(sealed.content()).isEqualTo(claim);
    assertThat(authenticated.verifies(sealed, key)).isTrue();
    Sealed announced = AuthenticatedFormat.parse(HexFormat.of().parseHex(golden("KEY")));
    assertThat(announced.kind()).isEqualTo(AuthenticatedFormat.KEY);
    assertThat(announced.content()).isEqualTo(id);
    assertThat(authenticated.verifies(announced, key)).isTrue();
  }

  private static String golden(String name) throws IOException {
    Properties messages = new Properties();
    try (InputStream in = GoldenMessagesTest.class.getResourceAsStream("messages.properties")) {
      messages.load(in);
    }
    return messages.getProperty(name);
  }
}
