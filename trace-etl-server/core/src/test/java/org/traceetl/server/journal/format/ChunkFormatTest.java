package org.traceetl.server.journal.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.window.QueueId;

public class ChunkFormatTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 3);
  private static final RecordHeader HEADER =
      new RecordHeader(
          RecordKind.WINDOW,
          new UUID(0x0123_4567_89AB_CDEFL, 0xFEDC_BA98_7654_3210L),
          7,
          42,
          1_000,
          1_234,
          1_800_000_000_000L);

  private final ChunkFormat format = new ChunkFormat("trace-spans", QUEUE, 4);
  private final JournalCounters counters = new JournalCounters();
  private final RecordAssembler assembler = new RecordAssembler(format, counters);

  @Test
  void bytesAreThoseOfTheFirstVersion() {
    List<byte[]> messages = format.write(HEADER, new byte[] {1, 2, 3, 4, 5});

    String header =
        "d46730e19a5c9c0c"
            + "0123456789abcdeffedcba9876543210"
            + "0000000000000007"
            + "000000000000002a"
            + "00000000000003e8"
            + "00000000000004d2"
            + "000001a3185c5000";
    assertThat(messages.stream().map(HexFormat.of()::formatHex))
        .containsExactly(
            "5445574a" + "01" + "02" + "0000" + "0002" + "14dafa42" + header + "01020304",
            "5445574a" + "01" + "02" + "0001" + "0002" + "ec74d4a0" + header + "05");
  }

  @Test
  void aRecordIsReadAsItWasWritten() {
    LogRecord record = assemble(format.write(HEADER, new byte[] {1, 2, 3, 4, 5})).getFirst();

    assertThat(record.header()).isEqualTo(HEADER);
    assertThat(record.payload()).containsExactly(1, 2, 3, 4, 5);
    assertThat(record.first()).isZero();
    assertThat(record.next()).isEqualTo(2);
  }

  @Property
  void anyPayloadIsReadAsItWasWritten(@ForAll @Size(max = 40) byte[] payload) {
    RecordAssembler own = new RecordAssembler(format, new JournalCounters());

    List<LogRecord> records = assemble(own, format.write(HEADER, payload));

    assertThat(records).hasSize(1);
    assertThat(records.getFirst().payload()).isEqualTo(payload);
  }

  @Property
  void anyBytesAreRefused(@ForAll byte[] message) {
    assertThat(format.rejection(message)).isNotNull();
  }

  @Property
  void anyChangedByteIsNoticed(@ForAll @IntRange(max = 82) int at, @ForAll byte value) {
    byte[] message = format.write(HEADER, new byte[] {1, 2, 3, 4}).getFirst();
    boolean same = at >= message.length || message[at] == value;
    if (!same) {
      message[at] = value;
      assertThat(format.rejection(message)).isNotNull();
    }
  }

  @Property
  void aCutMessageIsRefused(@ForAll @IntRange(max = 81) int length) {
    byte[] message = format.write(HEADER, new byte[] {1, 2, 3, 4}).getFirst();

    assertThat(format.rejection(Arrays.copyOf(message, length))).isNotNull();
  }

  @Test
  void reasonsAreTold() {
    byte[] message = format.write(HEADER, new byte[] {1}).getFirst();

    assertThat(format.rejection(new byte[0])).isEqualTo(RecordRejection.FOREIGN);
    assertThat(format.rejection("hello, world".getBytes(UTF_8))).isEqualTo(RecordRejection.FOREIGN);
    assertThat(format.rejection(Arrays.copyOf(message, 20))).isEqualTo(RecordRejection.MALFORMED);
    assertThat(format.rejection(Arrays.copyOf(message, message.length - 1)))
        .isEqualTo(RecordRejection.CHECKSUM);
    byte[] damaged = message.clone();
    damaged[4] = 2;
    assertThat(format.rejection(damaged)).isEqualTo(RecordRejection.CHECKSUM);
    assertThat(format.rejection(ofVersion(2, message))).isEqualTo(RecordRejection.VERSION);
    assertThat(format.rejection(ofVersion(255, message))).isEqualTo(RecordRejection.VERSION);
    assertThat(ChunkFormat.unknownVersion(ofVersion(255, message)))
        .hasMessageStartingWith("has version 255:");
    assertThat(format.rejection(ofVersion(0, message))).isEqualTo(RecordRejection.MALFORMED);
    ChunkFormat neighbour = new ChunkFormat("trace-spans", new QueueId("broker-a", 4), 4);
    assertThat(neighbour.rejection(message)).isEqualTo(RecordRejection.FOREIGN);
    assertThat(neighbour.rejection(ofVersion(2, message))).isEqualTo(RecordRejection.FOREIGN);
  }

  @Test
  void aChunkThatNoRecordCanHaveIsMalformed() {
    byte[] message = format.write(HEADER, new byte[] {1}).getFirst();
    for (Consumer<ByteBuffer> fault :
        List.<Consumer<ByteBuffer>>of(
            buffer -> buffer.put(5, (byte) 0),
            buffer -> buffer.put(5, (byte) 6),
            buffer -> buffer.putShort(6, (short) 1),
            buffer -> buffer.putShort(8, (short) (ChunkFormat.MAX_CHUNKS + 1)))) {
      ByteBuffer changed = ByteBuffer.wrap(message.clone());
      fault.accept(changed);
      assertThat(format.rejection(checked(changed.array()))).isEqualTo(RecordRejection.MALFORMED);
    }
    byte[] large = Arrays.copyOf(message, ChunkFormat.HEADER_BYTES + (1 << 20) + 1);
    assertThat(format.rejection(checked(large))).isEqualTo(RecordRejection.MALFORMED);
  }

  @Test
  void chunksOfOneHeaderAndOtherSizesAreNotJoined() {
    byte[] payload = new byte[9];
    ChunkFormat smaller = new ChunkFormat("trace-spans", new QueueId("broker-a", 3), 2);
    List<LogRecord> records =
        assemble(
            List.of(
                format.write(HEADER, payload).getFirst(), smaller.write(HEADER, payload).get(1)));

    assertThat(records).isEmpty();
    assertThat(counters.rejections(RecordRejection.TORN)).isEqualTo(2);
    RecordHeader other = new RecordHeader(RecordKind.WINDOW, HEADER.writer(), 9, 9, 0, 1, 1);
    assertThat(
            assemble(
                List.of(format.write(HEADER, payload).get(0), format.write(other, payload).get(1))))
        .isEmpty();
  }

  @Test
  void aHeaderWithoutAClaimIsNeitherWrittenNorRead() {
    byte[] message = format.write(HEADER, new byte[] {1}).getFirst();
    assertInvalid(RecordKind.WINDOW, 0, 1, message);
    assertInvalid(RecordKind.WINDOW, 1, -1, message);
    assertInvalid(RecordKind.RELEASE, -1, 1, message);

    RecordHeader barrier = new RecordHeader(RecordKind.RELEASE, HEADER.writer(), 0, 1, 0, 1, 1);
    assertThat(format.rejection(format.write(barrier, new byte[0]).getFirst())).isNull();
  }

  private void assertInvalid(RecordKind kind, long epoch, long number, byte[] message) {
    RecordHeader header = new RecordHeader(kind, HEADER.writer(), epoch, number, 0, 1, 1);
    assertThatThrownBy(() -> format.write(header, new byte[0]))
        .isInstanceOf(IllegalArgumentException.class);
    ByteBuffer changed = ByteBuffer.wrap(message.clone());
    changed.put(5, kind.code()).putLong(38, epoch).putLong(46, number);
    assertThat(format.rejection(checked(changed.array()))).isEqualTo(RecordRejection.MALFORMED);
  }

  @Test
  void aRepeatOfTheChunkBeforeIsPassedOver() {
    List<byte[]> messages = format.write(HEADER, new byte[9]);

    List<LogRecord> records =
        assemble(
            List.of(
                messages.get(0),
                messages.get(0),
                messages.get(1),
                messages.get(1),
                messages.get(2),
                messages.get(2)));

    assertThat(records).hasSize(1);
    assertThat(counters.rejections(RecordRejection.TORN)).isZero();
  }

  @Test
  void aRecordWithSomethingInBetweenIsTorn() {
    List<byte[]> messages = format.write(HEADER, new byte[9]);
    byte[] rubbish = {1, 2, 3};

    List<LogRecord> records =
        assemble(List.of(messages.get(0), rubbish, messages.get(1), messages.get(2)));

    assertThat(records).isEmpty();
    assertThat(counters.rejections(RecordRejection.FOREIGN)).isEqualTo(1);
    assertThat(counters.rejections(RecordRejection.TORN)).isEqualTo(3);
  }

  @Test
  void aRecordThatBeginsAgainIsWhole() {
    List<byte[]> messages = format.write(HEADER, new byte[9]);
    List<byte[]> log = new ArrayList<>(messages.subList(0, 2));
    log.addAll(messages);

    List<LogRecord> records = assemble(log);

    assertThat(records).hasSize(1);
    assertThat(records.getFirst().first()).isEqualTo(2);
    assertThat(counters.rejections(RecordRejection.TORN)).isEqualTo(1);
  }

  @Test
  void aRecordThatIsTooLargeIsNotWritten() {
    assertThatThrownBy(() -> format.write(HEADER, new byte[4 * ChunkFormat.MAX_CHUNKS + 1]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1025 bytes");
  }

  private List<LogRecord> assemble(List<byte[]> messages) {
    return assemble(assembler, messages);
  }

  private static List<LogRecord> assemble(RecordAssembler assembler, List<byte[]> messages) {
    List<LogRecord> records = new ArrayList<>();
    for (int offset = 0; offset < messages.size(); offset++) {
      try {
        LogRecord record = assembler.accept(new Entry(offset, messages.get(offset)));
        if (record != null) {
          records.add(record);
        }
      } catch (UnknownVersionException e) {
        throw new AssertionError(e);
      }
    }
    return records;
  }

  /** Returns the message as a server of another version would have written it. */
  public static byte[] ofVersion(int version, byte[] message) {
    byte[] other = message.clone();
    other[4] = (byte) version;
    return checked(other);
  }

  /** Sets the checksum of a changed message. */
  private static byte[] checked(byte[] message) {
    CRC32C crc = new CRC32C();
    crc.update(message, 0, 10);
    crc.update(message, 14, message.length - 14);
    ByteBuffer.wrap(message).putInt(10, (int) crc.getValue());
    return message;
  }
}
