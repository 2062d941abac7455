package org.traceetl.server.expose;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.zip.Deflater;

/**
 * A page in one encoding, ready to be sent: the same bytes for every scraper, for as long as it is
 * {@link #current}. What the span families lack to be a whole page is given by {@link #with}.
 */
public final class Page {
  private final Encoding encoding;
  private final List<byte[]> chunks;
  private final long bytes;
  private final long plainBytes;
  private final int crc;
  private final BooleanSupplier current;

  private Page(
      Encoding encoding,
      List<byte[]> chunks,
      long bytes,
      long plainBytes,
      int crc,
      BooleanSupplier current) {
    this.encoding = encoding;
    this.chunks = chunks;
    this.bytes = bytes;
    this.plainBytes = plainBytes;
    this.crc = crc;
    this.current = current;
  }

  /**
   * @param current whether the queues on it may still be shown; quick, for any thread
   */
  static Page of(Encoding encoding, List<Section> sections, BooleanSupplier current) {
    List<byte[]> chunks = new ArrayList<>();
    if (encoding.gzip()) {
      chunks.add(GzipFrame.header());
    }
    long plainBytes = 0;
    int crc = 0;
    for (Section section : sections) {
      chunks.addAll(encoding.gzip() ? section.deflated() : section.plain());
      plainBytes += section.length();
      if (encoding.gzip()) {
        crc = GzipFrame.combine(crc, section.crc(), section.crcShift());
      }
    }
    return new Page(encoding, List.copyOf(chunks), length(chunks), plainBytes, crc, current);
  }

  /** The whole page: this, then families that are made for each request. */
  public Page with(byte[] families) {
    List<byte[]> all = new ArrayList<>(chunks);
    int allCrc = crc;
    if (encoding.gzip()) {
      all.add(deflate(families));
      allCrc = GzipFrame.combine(crc, GzipFrame.crc(families), GzipFrame.shift(families.length));
      all.add(GzipFrame.trailer(allCrc, plainBytes + families.length));
    } else {
      all.add(families);
    }
    return new Page(
        encoding, List.copyOf(all), length(all), plainBytes + families.length, allCrc, current);
  }

  /**
   * Whether all it shows may still be shown. To be asked last before it is sent: a process that
   * stood still since then has a scraper that gave up.
   */
  public boolean current() {
    return current.getAsBoolean();
  }

  public Encoding encoding() {
    return encoding;
  }

  /** Bytes that {@link #writeTo} writes. */
  public long bytes() {
    return bytes;
  }

  public void writeTo(OutputStream out) throws IOException {
    for (byte[] chunk : chunks) {
      out.write(chunk);
    }
  }

  private static byte[] deflate(byte[] plain) {
    try (Deflater deflater = GzipFrame.deflater()) {
      deflater.setInput(plain);
      byte[] out = new byte[plain.length + 1_024];
      int length = 0;
      int bytes;
      while ((bytes = deflater.deflate(out, length, out.length - length, Deflater.SYNC_FLUSH))
          > 0) {
        length += bytes;
        if (length == out.length) {
          out = java.util.Arrays.copyOf(out, 2 * length);
        }
      }
      return java.util.Arrays.copyOf(out, length);
    }
  }

  private static long length(List<byte[]> chunks) {
    return chunks.stream().mapToLong(chunk -> chunk.length).sum();
  }
}
