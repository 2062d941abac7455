package org.traceetl.server.expose;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import java.util.zip.Inflater;
import java.util.zip.InflaterOutputStream;

/**
 * A page in one encoding, with the same bytes for every scraper while it is {@link #current}.
 * {@link #with} completes the span families to a whole page.
 */
public final class Page {
  private static final int INFLATE_BYTES = 64 * 1024;

  private final Encoding encoding;

  /** Deflated if the encoding is compressed or the page is {@link #inflated}. */
  private final byte[][] chunks;

  private final byte[][] tail;

  /** Whether a plain page is stored deflated, because it would need too much memory. */
  private final boolean inflated;

  private final long bytes;
  private final long plainBytes;
  private final int crc;
  private final BooleanSupplier current;

  private Page(
      Encoding encoding,
      byte[][] chunks,
      byte[][] tail,
      boolean inflated,
      long bytes,
      long plainBytes,
      int crc,
      BooleanSupplier current) {
    this.encoding = encoding;
    this.chunks = chunks;
    this.tail = tail;
    this.inflated = inflated;
    this.bytes = bytes;
    this.plainBytes = plainBytes;
    this.crc = crc;
    this.current = current;
  }

  /**
   * @param inflated whether only deflated sections exist although the encoding is plain
   * @param current whether all queues on the page may still be shown; fast and thread-safe
   */
  public static Page of(
      Encoding encoding, List<Section> sections, boolean inflated, BooleanSupplier current) {
    boolean deflated = encoding.gzip() || inflated;
    List<byte[]> chunks = new ArrayList<>(sections.size() + 1);
    if (encoding.gzip()) {
      chunks.add(GzipFrame.header());
    }
    long plainBytes = 0;
    int crc = 0;
    for (Section section : sections) {
      chunks.addAll(deflated ? section.deflated() : section.plain());
      plainBytes += section.length();
      if (encoding.gzip()) {
        crc = GzipFrame.combine(crc, section.crc(), section.crcShift());
      }
    }
    long bytes = inflated ? plainBytes : chunks.stream().mapToLong(chunk -> chunk.length).sum();
    return new Page(
        encoding,
        chunks.toArray(byte[][]::new),
        new byte[0][],
        inflated,
        bytes,
        plainBytes,
        crc,
        current);
  }

  /** Returns a page that contains only the given families, rendered for one request. */
  public static Page of(Encoding encoding, byte[] families) {
    return of(encoding, List.of(), false, () -> true).with(families);
  }

  /** Returns the whole page: this page, followed by families that are rendered for each request. */
  public Page with(byte[] families) {
    byte[][] last = {families};
    int allCrc = crc;
    long allPlainBytes = plainBytes + families.length;
    if (encoding.gzip()) {
      allCrc = GzipFrame.combine(crc, GzipFrame.crc(families), GzipFrame.shift(families.length));
      last = new byte[][] {GzipFrame.deflate(families), GzipFrame.trailer(allCrc, allPlainBytes)};
    }
    return new Page(
        encoding,
        chunks,
        last,
        inflated,
        bytes + Arrays.stream(last).mapToLong(chunk -> chunk.length).sum(),
        allPlainBytes,
        allCrc,
        current);
  }

  /**
   * Returns whether all series on the page may still be shown. Call it last before sending: if the
   * process paused since then, the scraper has given up.
   */
  public boolean current() {
    return current.getAsBoolean();
  }

  public Encoding encoding() {
    return encoding;
  }

  /** Returns the number of bytes that {@link #writeTo} writes. */
  public long bytes() {
    return bytes;
  }

  /** Returns the memory that the page uses, partly shared with other pages. */
  public long keptBytes() {
    return Stream.of(chunks, tail).flatMap(Arrays::stream).mapToLong(chunk -> chunk.length).sum();
  }

  public void writeTo(OutputStream out) throws IOException {
    if (inflated) {
      inflateTo(out);
    } else {
      write(chunks, out);
    }
    write(tail, out);
  }

  private static void write(byte[][] chunks, OutputStream out) throws IOException {
    for (byte[] chunk : chunks) {
      out.write(chunk);
    }
  }

  /** Writes the page. Does not close the stream. */
  @SuppressWarnings("resource")
  private void inflateTo(OutputStream out) throws IOException {
    try (Inflater inflater = new Inflater(true)) {
      var inflating = new InflaterOutputStream(out, inflater, INFLATE_BYTES);
      write(chunks, inflating);
    }
  }
}
