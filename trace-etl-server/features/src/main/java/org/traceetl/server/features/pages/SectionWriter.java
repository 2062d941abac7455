package org.traceetl.server.features.pages;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import org.traceetl.proto.SpanId;
import org.traceetl.proto.TraceId;
import org.traceetl.server.expose.GzipFrame;
import org.traceetl.server.expose.LineBuffer;
import org.traceetl.server.expose.Section;

/**
 * Writes sections one after the other through a buffer that stays in the processor's cache, and
 * stores their bytes plain, compressed or both. Confined to the fold thread.
 *
 * <p>Bytes are compressed in independent pieces. A piece is at most two zlib windows long, so that
 * zlib never moves its window and its hash table; that would cost more time than a new start, which
 * costs a twentieth of the compression.
 *
 * <p>Usage: {@link #begin}; {@link #ensure} with the maximum length of the next lines; the lines;
 * {@link #finish}.
 */
final class SectionWriter extends LineBuffer implements AutoCloseable {
  /** Maximum size of a piece: two windows less zlib's longest look-ahead. */
  static final int PIECE_BYTES = 2 * 32 * 1024 - 262;

  private static final int MILLI_DIGITS = 3;

  private final Deflater deflater = GzipFrame.deflater();
  private final CRC32 crc = new CRC32();
  private byte[] deflateBuffer = new byte[BUFFER_BYTES];
  private int deflated;
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

  /** Writes milliseconds in seconds. */
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

  /** Returns the number of sections written. */
  long sections() {
    return sections;
  }

  @Override
  protected void moveOut(byte[] bytes, int count) {
    length += count;
    if (plainChunks != null) {
      plainChunks.add(Arrays.copyOf(bytes, count));
    }
    if (deflatedChunks != null) {
      crc.update(bytes, 0, count);
      int pieces = (count + PIECE_BYTES - 1) / PIECE_BYTES;
      for (int piece = 0; piece < pieces; piece++) {
        int from = (int) ((long) count * piece / pieces);
        deflate(bytes, from, (int) ((long) count * (piece + 1) / pieces));
      }
    }
  }

  /** Compresses a piece so that it ends on a byte boundary. */
  private void deflate(byte[] bytes, int from, int to) {
    deflater.reset();
    deflater.setInput(bytes, from, to - from);
    while (true) {
      int room = deflateBuffer.length - deflated;
      int count = deflater.deflate(deflateBuffer, deflated, room, Deflater.SYNC_FLUSH);
      deflated += count;
      if (count < room) {
        return;
      }
      deflatedChunks.add(deflateBuffer);
      deflateBuffer = new byte[BUFFER_BYTES];
      deflated = 0;
    }
  }

  /** Frees the memory of the compressor. */
  @Override
  public void close() {
    deflater.close();
  }
}
