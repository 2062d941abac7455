package org.traceetl.server.expose;

import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Joins separately deflated sections into one gzip member (RFC 1952). Each section ends on a byte
 * boundary, is not marked as the last block and refers to no other section, so sections can be
 * joined in any order. Concatenated members would be simpler, but some readers, such as browsers,
 * stop after the first.
 */
public final class GzipFrame {
  private static final byte[] HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};

  /** An empty last block, then checksum and length, little-endian. */
  private static final int TRAILER_BYTES = 2 + 4 + 4;

  private static final int POLYNOMIAL = 0xedb88320;

  /** x^(2^n) modulo the polynomial, for n below 32. */
  private static final int[] POWERS = powers();

  private GzipFrame() {}

  public static byte[] header() {
    return HEADER;
  }

  /**
   * @param plainLength length of all sections before compression
   */
  public static byte[] trailer(int crc, long plainLength) {
    byte[] trailer = new byte[TRAILER_BYTES];
    trailer[0] = 3;
    for (int i = 0; i < 4; i++) {
      trailer[2 + i] = (byte) (crc >>> (8 * i));
      trailer[6 + i] = (byte) (plainLength >>> (8 * i));
    }
    return trailer;
  }

  /** Returns a new compressor of sections. */
  public static Deflater deflater() {
    return new Deflater(Deflater.BEST_SPEED, true);
  }

  /** Compresses a section at once. */
  static byte[] deflate(byte[] plain) {
    try (Deflater deflater = deflater()) {
      deflater.setInput(plain);
      byte[] out = new byte[plain.length + 1_024];
      int length = 0;
      int bytes;
      while ((bytes = deflater.deflate(out, length, out.length - length, Deflater.SYNC_FLUSH))
          > 0) {
        length += bytes;
        if (length == out.length) {
          out = Arrays.copyOf(out, 2 * length);
        }
      }
      return Arrays.copyOf(out, length);
    }
  }

  public static int crc(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /**
   * Combines the checksums of A and B into the checksum of A followed by B, as zlib's
   * crc32_combine.
   *
   * @param shiftB {@link #shift} of B's length
   */
  public static int combine(int crcA, int crcB, int shiftB) {
    return multiply(shiftB, crcA) ^ crcB;
  }

  /** Returns the factor of a checksum for the given number of following bytes: x^(8 * length). */
  public static int shift(long length) {
    int shift = 1 << 31;
    int power = 3; // 8 bits a byte
    for (long n = length; n != 0; n >>>= 1, power++) {
      if ((n & 1) != 0) {
        shift = multiply(POWERS[power & 31], shift);
      }
    }
    return shift;
  }

  private static int[] powers() {
    int[] powers = new int[32];
    powers[0] = 1 << 30;
    for (int i = 1; i < powers.length; i++) {
      powers[i] = multiply(powers[i - 1], powers[i - 1]);
    }
    return powers;
  }

  /** Returns a times b modulo the polynomial, bits reversed; a must not be 0. */
  private static int multiply(int a, int b) {
    int product = 0;
    int factor = b;
    for (int bit = 1 << 31; ; bit >>>= 1) {
      if ((a & bit) != 0) {
        product ^= factor;
        if ((a & (bit - 1)) == 0) {
          return product;
        }
      }
      factor = (factor & 1) != 0 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
    }
  }
}
