package org.traceetl.agent.forward;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.OtlpFormat;

/**
 * The head of a request in a segment. Numbers are big-endian:
 *
 * <pre>
 *  0  4  CRC-32C of byte 4 to the last one of the body
 *  4  4  bytes of the body, at least 1
 *  8  8  when the agent accepted the request, in milliseconds since 1970
 * 16  1  0: protobuf, 1: JSON
 * 17     the body
 * </pre>
 *
 * @param length bytes of the body
 */
record StoredRequest(int crc, int length, long millis, OtlpFormat format) {
  static final int HEAD_BYTES = 17;

  private static final byte PROTOBUF = 0;
  private static final byte JSON = 1;

  /** The head without its checksum. */
  private static final int CHECKED_BYTES = HEAD_BYTES - Integer.BYTES;

  /** Returns the head of {@code body[0, length)}. */
  static StoredRequest of(byte[] body, int length, long millis, OtlpFormat format) {
    StoredRequest unchecked = new StoredRequest(0, length, millis, format);
    CRC32C crc = unchecked.headCrc();
    crc.update(body, 0, length);
    return new StoredRequest((int) crc.getValue(), length, millis, format);
  }

  private CRC32C headCrc() {
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
    write(head);
    CRC32C crc = new CRC32C();
    crc.update(head.array(), Integer.BYTES, CHECKED_BYTES);
    return crc;
  }

  /** Returns the bytes of head and body. */
  long bytes() {
    return HEAD_BYTES + (long) length;
  }

  void write(ByteBuffer to) {
    to.putInt(crc).putInt(length).putLong(millis).put(format == OtlpFormat.JSON ? JSON : PROTOBUF);
  }

  /**
   * Reads a head.
   *
   * @param left bytes of the segment from {@code at} on
   * @return null if there is no whole request
   */
  static StoredRequest read(Disk.OpenFile file, long at, long left) throws IOException {
    if (left < HEAD_BYTES) {
      return null;
    }
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
    readFully(file, head, at);
    int crc = head.getInt();
    int length = head.getInt();
    long millis = head.getLong();
    int format = head.get();
    if (length < 1 || length > left - HEAD_BYTES || (format != PROTOBUF && format != JSON)) {
      return null;
    }
    return new StoredRequest(
        crc, length, millis, format == JSON ? OtlpFormat.JSON : OtlpFormat.PROTOBUF);
  }

  /**
   * Copies the body.
   *
   * @param at offset of the head
   * @return whether it matches the checksum
   */
  boolean copyBody(Disk.OpenFile file, long at, OutputStream to) throws IOException {
    CRC32C actual = headCrc();
    ByteBuffer part = ByteBuffer.allocate(Math.min(length, 64 * 1024));
    for (int done = 0; done < length; done += part.position()) {
      part.clear().limit(Math.min(part.capacity(), length - done));
      readFully(file, part, at + HEAD_BYTES + done);
      actual.update(part.array(), 0, part.limit());
      to.write(part.array(), 0, part.limit());
      part.position(part.limit());
    }
    return (int) actual.getValue() == crc;
  }

  private static void readFully(Disk.OpenFile file, ByteBuffer into, long at) throws IOException {
    while (into.hasRemaining()) {
      if (file.read(into, at + into.position()) < 0) {
        throw new EOFException("the file is shorter than before");
      }
    }
    into.flip();
  }
}
