package org.traceetl.proto;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * XXH64 as specified, reading eight bytes at a time. Known Java implementations need {@code
 * sun.misc.Unsafe} for that.
 */
public final class XxHash64 {
  private static final long PRIME_1 = 0x9e3779b185ebca87L;
  private static final long PRIME_2 = 0xc2b2ae3d27d4eb4fL;
  private static final long PRIME_3 = 0x165667b19e3779f9L;
  private static final long PRIME_4 = 0x85ebca77c2b2ae63L;
  private static final long PRIME_5 = 0x27d4eb2f165667c5L;
  private static final int STRIPE_BYTES = 4 * Long.BYTES;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private XxHash64() {}

  /** Returns the hash of {@code bytes[offset, offset + length)}. */
  public static long hash(byte[] bytes, int offset, int length, long seed) {
    int end = offset + length;
    int at = offset;
    long hash;
    if (length >= STRIPE_BYTES) {
      long a = seed + PRIME_1 + PRIME_2;
      long b = seed + PRIME_2;
      long c = seed;
      long d = seed - PRIME_1;
      for (; end - at >= STRIPE_BYTES; at += STRIPE_BYTES) {
        a = round(a, (long) LONG.get(bytes, at));
        b = round(b, (long) LONG.get(bytes, at + 8));
        c = round(c, (long) LONG.get(bytes, at + 16));
        d = round(d, (long) LONG.get(bytes, at + 24));
      }
      hash =
          Long.rotateLeft(a, 1)
              + Long.rotateLeft(b, 7)
              + Long.rotateLeft(c, 12)
              + Long.rotateLeft(d, 18);
      hash = merge(merge(merge(merge(hash, a), b), c), d);
    } else {
      hash = seed + PRIME_5;
    }
    hash += length;
    for (; end - at >= Long.BYTES; at += Long.BYTES) {
      hash ^= round(0, (long) LONG.get(bytes, at));
      hash = Long.rotateLeft(hash, 27) * PRIME_1 + PRIME_4;
    }
    if (end - at >= Integer.BYTES) {
      hash ^= ((int) INT.get(bytes, at) & 0xffff_ffffL) * PRIME_1;
      hash = Long.rotateLeft(hash, 23) * PRIME_2 + PRIME_3;
      at += Integer.BYTES;
    }
    for (; at < end; at++) {
      hash ^= (bytes[at] & 0xff) * PRIME_5;
      hash = Long.rotateLeft(hash, 11) * PRIME_1;
    }
    hash ^= hash >>> 33;
    hash *= PRIME_2;
    hash ^= hash >>> 29;
    hash *= PRIME_3;
    return hash ^ hash >>> 32;
  }

  private static long round(long accumulator, long input) {
    return Long.rotateLeft(accumulator + input * PRIME_2, 31) * PRIME_1;
  }

  private static long merge(long hash, long accumulator) {
    return (hash ^ round(0, accumulator)) * PRIME_1 + PRIME_4;
  }
}
