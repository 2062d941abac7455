package org.traceetl.server.expose;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import org.traceetl.proto.SpanId;
import org.traceetl.proto.TraceId;

/**
 * Writes one section after the other through one buffer that stays in the processor's cache; from
 * there bytes are kept, compressed or both. Owned by the fold thread.
 *
 * <p>Bytes are compressed in pieces that look back at no other. A piece fits zlib's window twice,
 * so that zlib never has to move its window and to correct its hash table, which takes longer than
 * to begin anew and costs a twentieth of the compression.
 *
 * <p>Use: {@link #begin}; {@link #ensure} before every few lines, which says how long they can get;
 * the lines; {@link #finish}.
 */
final class SectionWriter implements AutoCloseable {
  /** Longest number that is written: a decimal with sign and point, or a timestamp. */
  static final int MAX_NUMBER_BYTES = 32;

  /** Most bytes that are compressed in one go: two windows less zlib's longest look ahead. */
  static final int PIECE_BYTES = 2 * 32 * 1024 - 262;

  private static final int BUFFER_BYTES = 128 * 1024;
  private static final int MILLI_DIGITS = 3;
  private static final byte[] PAIRS = pairs();

  private final Deflater deflater = GzipFrame.deflater();
  private final CRC32 crc = new CRC32();
  private byte[] deflateBuffer = new byte[BUFFER_BYTES];
  private int deflated;
  private byte[] buffer = new byte[BUFFER_BYTES];
  private int position;
  private List<byte[]> plainChunks;
  private List<byte[]> deflatedChunks;
  private long length;
  private long sections;

  void begin(boolean wantPlain, boolean wantGzip) {
    plainChunks = wantPlain ? new ArrayList<>() : null;
    deflatedChunks = wantGzip ? new ArrayList<>() : null;
    crc.reset();
    deflated = 0;
    position = 0;
    length = 0;
  }

  /** Makes room for so many bytes in one piece; what was written before may move out. */
  void ensure(int bytes) {
    if (buffer.length - position < bytes) {
      flush();
      if (buffer.length < bytes) {
        buffer = new byte[Math.max(bytes, buffer.length * 2)];
      }
    }
  }

  int position() {
    return position;
  }

  void write(byte[] bytes) {
    write(bytes, 0, bytes.length);
  }

  void write(byte[] bytes, int from, int length) {
    System.arraycopy(bytes, from, buffer, position, length);
    position += length;
  }

  /** Writes again what stands at a position given since the last {@link #ensure}. */
  void repeat(int from, int bytes) {
    System.arraycopy(buffer, from, buffer, position, bytes);
    position += bytes;
  }

  void write(char ascii) {
    buffer[position++] = (byte) ascii;
  }

  /** Writes a number that is at least 0. */
  void write(long number) {
    int end = position + digits(number);
    position = end;
    long rest = number;
    while (rest >= 100) {
      long hundreds = rest / 100;
      int pair = (int) (rest - hundreds * 100) * 2;
      buffer[--end] = PAIRS[pair + 1];
      buffer[--end] = PAIRS[pair];
      rest = hundreds;
    }
    if (rest >= 10) {
      buffer[--end] = PAIRS[(int) rest * 2 + 1];
      buffer[--end] = PAIRS[(int) rest * 2];
    } else {
      buffer[--end] = (byte) ('0' + rest);
    }
  }

  /** Writes {@code whole + fraction / 10^digits}, without needless zeros. Neither is negative. */
  void write(long whole, long fraction, int digits) {
    write(whole);
    if (fraction == 0) {
      return;
    }
    write('.');
    long rest = fraction;
    for (int i = position + digits - 1; i >= position; i--) {
      buffer[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    position += digits;
    while (buffer[position - 1] == '0') {
      position--;
    }
  }

  /** Writes milliseconds as seconds. */
  void writeSeconds(long millis) {
    write(millis / 1_000, millis % 1_000, MILLI_DIGITS);
  }

  void writeTraceId(long high, long low) {
    TraceId.writeHex(high, low, buffer, position);
    position += TraceId.HEX_LENGTH;
  }

  void writeSpanId(long id) {
    SpanId.writeHex(id, buffer, position);
    position += SpanId.HEX_LENGTH;
  }

  Section finish() {
    flush();
    if (deflated > 0) {
      deflatedChunks.add(Arrays.copyOf(deflateBuffer, deflated));
    }
    boolean gzip = deflatedChunks != null;
    Section section =
        new Section(
            plainChunks == null ? null : List.copyOf(plainChunks),
            gzip ? List.copyOf(deflatedChunks) : null,
            length,
            gzip ? (int) crc.getValue() : 0,
            gzip ? GzipFrame.shift(length) : 0);
    plainChunks = null;
    deflatedChunks = null;
    sections++;
    return section;
  }

  /** Sections written so far. */
  long sections() {
    return sections;
  }

  private void flush() {
    if (position == 0) {
      return;
    }
    length += position;
    if (plainChunks != null) {
      plainChunks.add(Arrays.copyOf(buffer, position));
    }
    if (deflatedChunks != null) {
      crc.update(buffer, 0, position);
      int pieces = (position + PIECE_BYTES - 1) / PIECE_BYTES;
      for (int piece = 0; piece < pieces; piece++) {
        int from = (int) ((long) position * piece / pieces);
        deflate(from, (int) ((long) position * (piece + 1) / pieces));
      }
    }
    position = 0;
  }

  /** Compresses a piece of the buffer so that it ends on a byte. */
  private void deflate(int from, int to) {
    deflater.reset();
    deflater.setInput(buffer, from, to - from);
    while (true) {
      int room = deflateBuffer.length - deflated;
      int bytes = deflater.deflate(deflateBuffer, deflated, room, Deflater.SYNC_FLUSH);
      deflated += bytes;
      if (bytes < room) {
        return;
      }
      deflatedChunks.add(deflateBuffer);
      deflateBuffer = new byte[BUFFER_BYTES];
      deflated = 0;
    }
  }

  /** Frees the compressor's memory. */
  @Override
  public void close() {
    deflater.close();
  }

  private static int digits(long number) {
    int digits = 1;
    for (long bound = 10; number >= bound && digits < 19; bound *= 10) {
      digits++;
    }
    return digits;
  }

  private static byte[] pairs() {
    byte[] pairs = new byte[200];
    for (int i = 0; i < 100; i++) {
      pairs[2 * i] = (byte) ('0' + i / 10);
      pairs[2 * i + 1] = (byte) ('0' + i % 10);
    }
    return pairs;
  }
}
