package org.traceetl.server.journal.chain;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.RecordChunk;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordKind;

/**
 * An operator's instruction to skip a message that stops readers. It follows that message in the
 * log, as a record whose {@code from} is the message's offset and whose payload is:
 *
 * <pre>
 *  0  4  CRC32C of the message, big-endian
 *  4  ..  reason, UTF-8
 * </pre>
 *
 * <p>Only readers that cannot read the message apply it, so no valid record is lost.
 *
 * @param offset of the message
 * @param checksum CRC32C of the message
 */
public record StepOverRecord(long offset, int checksum, String reason) {
  /** Maximum length of a reason, in characters. */
  static final int MAX_REASON = 200;

  static StepOverRecord over(long offset, byte[] message, String reason) {
    return new StepOverRecord(offset, checksum(message), reason);
  }

  /** Returns the step in a message, or null. */
  static StepOverRecord read(byte[] message, ChunkFormat format) {
    if (format.rejection(message) != null) {
      return null;
    }
    RecordChunk chunk = format.read(message);
    RecordHeader header = chunk.header();
    if (header.kind() != RecordKind.STEP || chunk.count() != 1) {
      return null;
    }
    ByteBuffer payload =
        ByteBuffer.wrap(message, ChunkFormat.HEADER_BYTES, chunk.payloadLength()).slice();
    return payload.remaining() < Integer.BYTES
        ? null
        : new StepOverRecord(header.from(), payload.getInt(), UTF_8.decode(payload).toString());
  }

  RecordHeader header(UUID writer, long writtenMillis) {
    return new RecordHeader(RecordKind.STEP, writer, 1, 0, offset, JournalLog.NONE, writtenMillis);
  }

  byte[] payload() {
    byte[] text = reason.getBytes(UTF_8);
    return ByteBuffer.allocate(Integer.BYTES + text.length).putInt(checksum).put(text).array();
  }

  boolean isOver(long at, byte[] message) {
    return offset == at && checksum == checksum(message);
  }

  private static int checksum(byte[] message) {
    CRC32C crc = new CRC32C();
    crc.update(message);
    return (int) crc.getValue();
  }
}
