package org.traceetl.proto.ring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.traceetl.proto.ring.MalformedRingException.Part.DICTIONARY;

import java.util.Arrays;

/**
 * The strings of a ring's dictionary as far as they were read, copied: text that is not UTF-8 is
 * repaired. Owned by the ring's reader; what {@link #strings} gives never changes and may be handed
 * to another thread.
 */
public final class RingDictionary {
  private static final int ENTRY_INDEX_BYTES = 4;

  /** Texts and their index with room to grow. */
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
    // Where each begins; it ends where the next one begins.
    private final int[] bounds;
    private final int size;

    private Strings(byte[] bytes, int[] bounds, int size) {
      this.bytes = bytes;
      this.bounds = bounds;
      this.size = size;
    }

    /** Entries. */
    public int size() {
      return size;
    }

    /** The array that has all of them. */
    public byte[] bytes() {
      return bytes;
    }

    /** Where one begins. */
    public int offset(int entry) {
      return bounds[entry];
    }

    /** Bytes of one. */
    public int length(int entry) {
      return bounds[entry + 1] - bounds[entry];
    }
  }

  /**
   * Reads what is new of it.
   *
   * @param mostBytes that it may take, of {@link #heldBytes}
   * @throws MalformedRingException when it is no dictionary, or would take more
   */
  public void update(RingCursor ring, long mostBytes) throws MalformedRingException {
    long end = ring.dictionaryEnd();
    if (end == readUntil) {
      return;
    }
    if (end < readUntil || end > ring.dictionaryBytes()) {
      throw new MalformedRingException(DICTIONARY, "the dictionary's end is none");
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
          throw new MalformedRingException(DICTIONARY, "an entry's length is none");
        }
        byte b = entries[at++];
        length |= (b & 0x7f) << shift;
        more = b < 0;
      }
      if (length < 1 || length > RingLayout.MAX_ENTRY_BYTES || length > entries.length - at) {
        throw new MalformedRingException(DICTIONARY, "an entry's length is wrong");
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

  /** What it may take once it is updated, about. */
  public long neededBytes(RingCursor ring) {
    return heldBytes() + NEEDED_PER_BYTE * Math.max(0, ring.dictionaryEnd() - readUntil);
  }

  /** The entries read so far. */
  public Strings strings() {
    return strings;
  }

  /** Bytes that it takes. */
  public long heldBytes() {
    return bytes.length + (long) ENTRY_INDEX_BYTES * bounds.length;
  }
}
