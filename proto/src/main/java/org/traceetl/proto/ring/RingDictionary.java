package org.traceetl.proto.ring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.traceetl.proto.ring.MalformedRingException.Part.DICTIONARY;

import java.util.Arrays;

/**
 * A copy of the entries read so far from a ring's dictionary; text that is not UTF-8 is repaired.
 * Owned by the ring's reader. {@link #strings} never change and may be used by another thread.
 */
public final class RingDictionary {
  private static final int ENTRY_INDEX_BYTES = 4;

  /** Memory for the texts and their index with room to grow, per byte. */
  private static final int NEEDED_PER_BYTE = 4;

  private byte[] bytes = new byte[0];
  private int[] bounds = new int[1];
  private int used;
  private int size;
  private long readUntil;
  private Strings strings = new Strings(bytes, bounds, 0);

  /** Entries of a dictionary, by number. */
  public static final class Strings {
    private final byte[] bytes;
    // Start of each entry, which is the end of the previous one.
    private final int[] bounds;
    private final int size;

    private Strings(byte[] bytes, int[] bounds, int size) {
      this.bytes = bytes;
      this.bounds = bounds;
      this.size = size;
    }

    public int size() {
      return size;
    }

    /** Returns the array with all entries. */
    public byte[] bytes() {
      return bytes;
    }

    /** Returns the start of an entry. */
    public int offset(int entry) {
      return bounds[entry];
    }

    /** Returns the length of an entry, bytes. */
    public int length(int entry) {
      return bounds[entry + 1] - bounds[entry];
    }
  }

  /**
   * Reads new entries.
   *
   * @param mostBytes limit of {@link #heldBytes}
   * @throws MalformedRingException if the dictionary is malformed or exceeds the limit
   */
  public void update(RingCursor ring, long mostBytes) throws MalformedRingException {
    long end = ring.dictionaryEnd();
    if (end == readUntil) {
      return;
    }
    if (end < readUntil || end > ring.dictionaryBytes()) {
      throw new MalformedRingException(DICTIONARY, "the dictionary's end is not valid");
    }
    if (end > mostBytes) {
      throw new MalformedRingException(DICTIONARY, "the dictionary is too large");
    }
    byte[] entries = new byte[(int) (end - readUntil)];
    ring.copyDictionary(readUntil, entries);
    int at = 0;
    while (at < entries.length) {
      int length = 0;
      boolean more = true;
      for (int shift = 0; more; shift += 7) {
        if (at == entries.length || shift > 14) {
          throw new MalformedRingException(DICTIONARY, "an entry's length is incomplete");
        }
        byte b = entries[at++];
        length |= (b & 0x7f) << shift;
        more = b < 0;
      }
      if (length < 1 || length > RingLayout.MAX_ENTRY_BYTES || length > entries.length - at) {
        throw new MalformedRingException(DICTIONARY, "an entry's length is not valid");
      }
      add(entries, at, length, mostBytes);
      at += length;
    }
    readUntil = end;
    strings = new Strings(bytes, bounds, size);
  }

  private void add(byte[] from, int offset, int length, long mostBytes)
      throws MalformedRingException {
    byte[] text = from;
    int start = offset;
    int count = length;
    byte[] repaired = new String(from, offset, length, UTF_8).getBytes(UTF_8);
    if (!Arrays.equals(repaired, 0, repaired.length, from, offset, offset + length)) {
      text = repaired;
      start = 0;
      count = repaired.length;
    }
    if (bytes.length - used < count) {
      bytes = Arrays.copyOf(bytes, Math.max(used + count, bytes.length + bytes.length / 2));
    }
    if (size + 1 == bounds.length) {
      bounds = Arrays.copyOf(bounds, Math.max(16, size + size / 2));
    }
    if (heldBytes() > mostBytes) {
      throw new MalformedRingException(DICTIONARY, "the dictionary is too large");
    }
    System.arraycopy(text, start, bytes, used, count);
    used += count;
    bounds[++size] = used;
  }

  /** Estimates the memory after the next update, bytes. */
  public long neededBytes(RingCursor ring) {
    return heldBytes() + NEEDED_PER_BYTE * Math.max(0, ring.dictionaryEnd() - readUntil);
  }

  /** Returns the entries read so far. */
  public Strings strings() {
    return strings;
  }

  /** Returns the memory of the entries, bytes. */
  public long heldBytes() {
    return bytes.length + (long) ENTRY_INDEX_BYTES * bounds.length;
  }
}
