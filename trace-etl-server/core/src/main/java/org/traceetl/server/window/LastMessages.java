package org.traceetl.server.window;

import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Places in a queue up to which it was read, each with a checksum that identifies the message
 * before it. If a broker still has that message at its offset, it also has all messages read before
 * it. Immutable; the places ascend.
 */
public final class LastMessages {
  /** No places. */
  public static final LastMessages NONE = new LastMessages(new long[0], new int[0]);

  /** Maximum number of window ends that a journal keeps: windows of some minutes. */
  public static final int MAX_WINDOWS = 32;

  private final long[] ends;
  private final int[] checksums;

  private LastMessages(long[] ends, int[] checksums) {
    this.ends = ends;
    this.checksums = checksums;
  }

  /** Returns the CRC32C of a body, which identifies a message of a journal: all differ. */
  public static int checksum(byte[] body) {
    CRC32C crc = new CRC32C();
    crc.update(body, 0, body.length);
    return (int) crc.getValue();
  }

  public boolean isEmpty() {
    return ends.length == 0;
  }

  public int size() {
    return ends.length;
  }

  /** Returns a place, the lowest one first: the offset after its message. */
  public long end(int index) {
    return ends[index];
  }

  /** Returns the identity of the message before the place. */
  public int checksum(int index) {
    return checksums[index];
  }

  /** Returns the highest place, of which there must be one. */
  public long lastEnd() {
    return ends[ends.length - 1];
  }

  /**
   * Returns these places and a new one, without places at or above it: those were read before the
   * queue went back.
   *
   * @param most maximum number of places; the highest ones are kept
   */
  public LastMessages with(long end, int checksum, int most) {
    int below = countUpTo(end - 1);
    int first = Math.max(0, below + 1 - most);
    int size = below + 1 - first;
    long[] newEnds = new long[size];
    int[] newChecksums = new int[size];
    System.arraycopy(ends, first, newEnds, 0, size - 1);
    System.arraycopy(checksums, first, newChecksums, 0, size - 1);
    newEnds[size - 1] = end;
    newChecksums[size - 1] = checksum;
    return new LastMessages(newEnds, newChecksums);
  }

  /** Returns these places and the highest one of others, of which there must be one. */
  public LastMessages withLastOf(LastMessages others) {
    return with(others.lastEnd(), others.checksums[others.size() - 1], MAX_WINDOWS);
  }

  /** Returns the places that are not above an offset. */
  public LastMessages upTo(long offset) {
    int size = countUpTo(offset);
    return size == ends.length
        ? this
        : new LastMessages(Arrays.copyOf(ends, size), Arrays.copyOf(checksums, size));
  }

  private int countUpTo(long offset) {
    int count = ends.length;
    while (count > 0 && ends[count - 1] > offset) {
      count--;
    }
    return count;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LastMessages that
        && Arrays.equals(ends, that.ends)
        && Arrays.equals(checksums, that.checksums);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(ends) + Arrays.hashCode(checksums);
  }

  @Override
  public String toString() {
    return Arrays.toString(ends);
  }
}
