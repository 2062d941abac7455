package org.traceetl.server.journal.format;

import com.google.common.hash.Hashing;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.log.AuthenticatedFormat;
import org.traceetl.server.journal.log.JournalKeys;
import org.traceetl.server.window.QueueId;

/**
 * The format of the messages of one queue's log. All numbers are big-endian:
 *
 * <pre>
 *  0  4  "TEWJ"
 *  4  1  version, unsigned: 1
 *  5  1  kind: 1 claim, 2 window, 3 snapshot, 4 release, 5 step
 *  6  2  index of the chunk, unsigned
 *  8  2  chunks of the record, unsigned
 * 10  4  CRC32C of the message without these four bytes
 * 14  8  queue: the first 8 bytes of the SHA-256 of "topic/broker/queue"
 * 22 16  writer
 * 38  8  epoch
 * 46  8  number
 * 54  8  from
 * 62  8  to
 * 70  8  written, milliseconds since 1970
 * 78  .. payload of the chunk
 * </pre>
 *
 * <p>An invalid message results in a {@link RecordRejection}, never an exception. Later versions
 * keep the fields before the writer, so that a reader can distinguish them from damaged and foreign
 * messages.
 */
public final class ChunkFormat {
  public static final int HEADER_BYTES = 78;

  /** Maximum payload of a chunk. By default a broker accepts messages of 4 MiB. */
  public static final int MAX_PAYLOAD_BYTES = 1 << 20;

  /** Maximum number of chunks of a record. */
  static final int MAX_CHUNKS = 256;

  private static final int MAGIC = 0x5445574A;
  private static final byte VERSION = 1;
  private static final int CHECKSUM_AT = 10;
  private static final int CHECKED_AGAIN_AT = CHECKSUM_AT + Integer.BYTES;

  private final long queue;
  private final int maxPayloadBytes;

  /**
   * @param topic of the spans
   * @param maxPayloadBytes of a chunk, 1 to {@link #MAX_PAYLOAD_BYTES}
   */
  public ChunkFormat(String topic, QueueId queue, int maxPayloadBytes) {
    this.queue =
        ByteBuffer.wrap(
                Hashing.sha256().hashString(topic + "/" + queue, StandardCharsets.UTF_8).asBytes())
            .getLong();
    this.maxPayloadBytes = maxPayloadBytes;
  }

  /**
   * Returns the messages of a record, in order.
   *
   * @throws IllegalArgumentException if the header is invalid, or the record is too large
   */
  public List<byte[]> write(RecordHeader header, byte[] payload) {
    if (!header.isValid()) {
      throw new IllegalArgumentException("A record must not have the header " + header);
    }
    int count = Math.max(1, Math.ceilDiv(payload.length, maxPayloadBytes));
    if (count > MAX_CHUNKS) {
      throw new IllegalArgumentException(
          "A "
              + header.kind()
              + " of "
              + payload.length
              + " bytes is too large for the journal: at most "
              + (long) MAX_CHUNKS * maxPayloadBytes
              + ". Lower the bounds of series of an application and in all.");
    }
    List<byte[]> messages = new ArrayList<>(count);
    for (int index = 0; index < count; index++) {
      int from = index * maxPayloadBytes;
      int length = Math.min(maxPayloadBytes, payload.length - from);
      messages.add(message(header, index, count, payload, from, length));
    }
    return messages;
  }

  private byte[] message(
      RecordHeader header, int index, int count, byte[] payload, int from, int length) {
    byte[] message = new byte[HEADER_BYTES + length];
    ByteBuffer.wrap(message)
        .putInt(MAGIC)
        .put(VERSION)
        .put(header.kind().code())
        .putShort((short) index)
        .putShort((short) count)
        .putInt(0)
        .putLong(queue)
        .putLong(header.writer().getMostSignificantBits())
        .putLong(header.writer().getLeastSignificantBits())
        .putLong(header.epoch())
        .putLong(header.number())
        .putLong(header.from())
        .putLong(header.to())
        .putLong(header.writtenMillis())
        .put(payload, from, length);
    ByteBuffer.wrap(message).putInt(CHECKSUM_AT, checksum(message));
    return message;
  }

  private static int checksum(byte[] message) {
    CRC32C crc = new CRC32C();
    crc.update(message, 0, CHECKSUM_AT);
    crc.update(message, CHECKED_AGAIN_AT, message.length - CHECKED_AGAIN_AT);
    return (int) crc.getValue();
  }

  /** Returns why a message is not a chunk of this queue; null if it is one. */
  public RecordRejection rejection(byte[] message) {
    ByteBuffer buffer = ByteBuffer.wrap(message);
    if (message.length < Integer.BYTES || buffer.getInt(0) != MAGIC) {
      return RecordRejection.FOREIGN;
    }
    if (message.length < HEADER_BYTES) {
      return RecordRejection.MALFORMED;
    }
    if (buffer.getInt(CHECKSUM_AT) != checksum(message)) {
      return RecordRejection.CHECKSUM;
    }
    if (buffer.getLong(14) != queue) {
      return RecordRejection.FOREIGN;
    }
    if (version(message) > VERSION) {
      return RecordRejection.VERSION;
    }
    int index = Short.toUnsignedInt(buffer.getShort(6));
    int count = Short.toUnsignedInt(buffer.getShort(8));
    boolean sensible =
        version(message) == VERSION
            && RecordKind.of(message[5]) != null
            && index < count
            && count <= MAX_CHUNKS
            && message.length - HEADER_BYTES <= MAX_PAYLOAD_BYTES
            && read(message).header().isValid();
    return sensible ? null : RecordRejection.MALFORMED;
  }

  private static int version(byte[] message) {
    return Byte.toUnsignedInt(message[4]);
  }

  /** Returns the error of a message that is rejected for its version. */
  public static UnknownVersionException unknownVersion(byte[] message) {
    int version = version(message);
    return version == AuthenticatedFormat.VERSION
        ? new UnknownVersionException(
            "is authenticated (version 2), and this server has no keys",
            "set " + JournalKeys.KEY + " as on the servers that wrote it")
        : new UnknownVersionException(version, VERSION);
  }

  /** Returns the chunk in a message without {@link #rejection}. */
  public RecordChunk read(byte[] message) {
    ByteBuffer buffer = ByteBuffer.wrap(message);
    RecordHeader header =
        new RecordHeader(
            RecordKind.of(message[5]),
            new UUID(buffer.getLong(22), buffer.getLong(30)),
            buffer.getLong(38),
            buffer.getLong(46),
            buffer.getLong(54),
            buffer.getLong(62),
            buffer.getLong(70));
    return new RecordChunk(
        header,
        Short.toUnsignedInt(buffer.getShort(6)),
        Short.toUnsignedInt(buffer.getShort(8)),
        message);
  }
}
