package org.traceetl.proto;

/**
 * Hashes that identify a call across processes: both halves of an edge have the trace ID and the
 * span ID of the client side, and therefore equal hashes. Every release computes the same hashes,
 * because agents of different releases leave the two halves of an edge.
 *
 * <p>The key is a chain of the 64-bit mixing function "Mix13" of David Stafford, <i>Better Bit
 * Mixing: Improving on MurmurHash3's 64-bit Finalizer</i> (2011), which {@link
 * java.util.SplittableRandom} also uses (Steele, Lea, Flood, <i>Fast Splittable Pseudorandom Number
 * Generators</i>, OOPSLA 2014). The check is a chain of {@code fmix64}, the finalizer of Austin
 * Appleby's MurmurHash3, in another order. Both functions are bijective. They are not secret: a
 * sender can choose IDs with equal hashes, as it can choose equal IDs.
 */
public final class EdgeKey {
  /** Number of slots. */
  public static final int SLOTS = 1 << 12;

  /**
   * Prevents IDs of zeros from giving 0: 2^64 divided by the golden ratio, as in SplittableRandom.
   */
  private static final long START = 0x9e37_79b9_7f4a_7c15L;

  private EdgeKey() {}

  /** Returns the key, any 64 bits. Different span IDs of one trace have different keys. */
  public static long key(long traceIdHigh, long traceIdLow, long spanId) {
    return mix13(mix13(mix13(traceIdHigh + START) ^ traceIdLow) ^ spanId);
  }

  /** Returns the check, 0 to 65,535: bits of a hash that is independent of the key. */
  public static int check(long traceIdHigh, long traceIdLow, long spanId) {
    long hash = fmix64(fmix64(fmix64(spanId + START) ^ traceIdHigh) ^ traceIdLow);
    return (int) (hash >>> Long.SIZE - Short.SIZE);
  }

  /** Returns the slot of a key, 0 to {@link #SLOTS} - 1: its highest bits. */
  public static int slot(long key) {
    return (int) (key >>> Long.SIZE - Integer.numberOfTrailingZeros(SLOTS));
  }

  private static long mix13(long value) {
    long mixed = (value ^ value >>> 30) * 0xbf58_476d_1ce4_e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d0_49bb_1331_11ebL;
    return mixed ^ mixed >>> 31;
  }

  static long fmix64(long value) {
    long mixed = (value ^ value >>> 33) * 0xff51_afd7_ed55_8ccdL;
    mixed = (mixed ^ mixed >>> 33) * 0xc4ce_b9fe_1a85_ec53L;
    return mixed ^ mixed >>> 33;
  }
}
