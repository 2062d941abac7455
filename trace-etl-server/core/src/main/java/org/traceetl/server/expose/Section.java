package org.traceetl.server.expose;

import java.util.List;

/**
 * A part of a page. Immutable by contract: nobody writes to the arrays.
 *
 * @param plain its bytes, or null if they were not wanted
 * @param deflated the same as raw deflate blocks without a last one, or null
 * @param length of the plain bytes, whether kept or not
 * @param crc CRC-32 of the plain bytes; computed only with {@code deflated}
 * @param crcShift what {@link GzipFrame#shift} makes of the length; computed only with {@code
 *     deflated}
 */
public record Section(
    List<byte[]> plain, List<byte[]> deflated, long length, int crc, int crcShift) {
  /** Whether it has what is wanted. */
  public boolean has(boolean wantPlain, boolean wantGzip) {
    return (!wantPlain || plain != null) && (!wantGzip || deflated != null);
  }

  /** What is wanted of it, where that is less than it has. */
  public Section only(boolean wantPlain, boolean wantGzip) {
    if ((wantPlain || plain == null) && (wantGzip || deflated == null)) {
      return this;
    }
    return new Section(wantPlain ? plain : null, wantGzip ? deflated : null, length, crc, crcShift);
  }
}
