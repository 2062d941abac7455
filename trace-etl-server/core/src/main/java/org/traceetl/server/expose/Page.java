package org.traceetl.server.expose;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.zip.Inflater;
import java.util.zip.InflaterOutputStream;

/**
 * A page in one encoding, with the same bytes for every scraper while it is {@link #current}. Pages
 * of some families are joined by {@link #followedBy}, and {@link #with} completes the result.
 */
public final class Page {
  private static final int INFLATE_BYTES = 64 * 1024;

  /**
   * A part of a page.
   *
   * @param chunks deflated if the encoding is compressed or the part is {@code inflated}
   * @param inflated whether the part of a plain page is stored deflated, because it would need too
   *     much memory
   */
  private record Part(List<byte[]> chunks, boolean inflated) {}

  private final Encoding encoding;
  private final List<Part> parts;
  private final long bytes;
  private final long plainBytes;
  private final int crc;
  private final BooleanSupplier current;

  private Page(
      Encoding encoding,
      List<Part> parts,
      long bytes,
      long plainBytes,
      int crc,
      BooleanSupplier current) {
    this.encoding = encoding;
    this.parts = parts;
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
    List<byte[]> chunks = new ArrayList<>(sections.size());
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
    List<Part> parts = List.of(new Part(List.copyOf(chunks), inflated));
    return new Page(encoding, parts, bytes, plainBytes, crc, current);
  }

  /** Returns a page that contains only the given families, rendered for one request. */
  public static Page of(Encoding encoding, byte[] families) {
    return of(encoding, List.of(), false, () -> true).with(families);
  }

  /**
   * Returns this page, followed by other families. It is current while both are. Neither page may
   * be complete.
   *
   * @param next a page in the same encoding
   */
  public Page followedBy(Page next) {
    List<Part> all = new ArrayList<>(parts);
    all.addAll(next.parts);
    return new Page(
        encoding,
        all,
        bytes + next.bytes,
        plainBytes + next.plainBytes,
        GzipFrame.combine(crc, next.crc, GzipFrame.shift(next.plainBytes)),
        () -> current.getAsBoolean() && next.current.getAsBoolean());
  }

  /** Returns the whole page: this page, followed by families that are rendered for each request. */
  public Page with(byte[] families) {
    List<Section> last = List.of(Section.of(families, encoding.gzip()));
    Page whole = followedBy(of(encoding, last, false, () -> true));
    return encoding.gzip() ? whole.framed() : whole;
  }

  /** Returns the page as a member of gzip. */
  private Page framed() {
    byte[] header = GzipFrame.header();
    byte[] trailer = GzipFrame.trailer(crc, plainBytes);
    List<Part> framed = new ArrayList<>(parts.size() + 2);
    framed.add(new Part(List.of(header), false));
    framed.addAll(parts);
    framed.add(new Part(List.of(trailer), false));
    long framedBytes = header.length + bytes + trailer.length;
    return new Page(encoding, framed, framedBytes, plainBytes, crc, current);
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
    return parts.stream()
        .flatMap(part -> part.chunks.stream())
        .mapToLong(chunk -> chunk.length)
        .sum();
  }

  /** Writes the page. Does not close the stream. */
  public void writeTo(OutputStream out) throws IOException {
    for (Part part : parts) {
      if (part.inflated) {
        inflate(part.chunks, out);
      } else {
        write(part.chunks, out);
      }
    }
  }

  private static void write(List<byte[]> chunks, OutputStream out) throws IOException {
    for (byte[] chunk : chunks) {
      out.write(chunk);
    }
  }

  @SuppressWarnings("resource")
  private static void inflate(List<byte[]> chunks, OutputStream out) throws IOException {
    try (Inflater inflater = new Inflater(true)) {
      write(chunks, new InflaterOutputStream(out, inflater, INFLATE_BYTES));
    }
  }
}
