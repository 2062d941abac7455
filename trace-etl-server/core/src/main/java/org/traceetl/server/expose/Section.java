package org.traceetl.server.expose;

import java.util.List;

/**
 * A part of a page. Immutable by contract: the arrays must not be modified.
 *
 * @param plain plain bytes, or null if not requested
 * @param deflated raw deflate blocks without a last one, or null
 * @param length length of the plain bytes, even if they are null
 * @param crc CRC-32 of the plain bytes; computed only with {@code deflated}
 * @param crcShift {@link GzipFrame#shift} of the length; computed only with {@code deflated}
 */
public record Section(
    List<byte[]> plain, List<byte[]> deflated, long length, int crc, int crcShift) {
  /** Returns a section of bytes that are not kept for other pages, plain or deflated. */
  public static Section of(byte[] bytes, boolean deflated) {
    return deflated
        ? new Section(
            null,
            List.of(GzipFrame.deflate(bytes)),
            bytes.length,
            GzipFrame.crc(bytes),
            GzipFrame.shift(bytes.length))
        : new Section(List.of(bytes), null, bytes.length, 0, 0);
  }

  /** Returns whether the section has the requested forms. */
  public boolean has(boolean wantPlain, boolean wantGzip) {
    return (!wantPlain || plain != null) && (!wantGzip || deflated != null);
  }

  /** Returns the section with only the requested forms. */
  public Section only(boolean wantPlain, boolean wantGzip) {
    if ((wantPlain || plain == null) && (wantGzip || deflated == null)) {
      return this;
    }
    return new Section(wantPlain ? plain : null, wantGzip ? deflated : null, length, crc, crcShift);
  }
}
