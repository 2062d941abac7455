package org.traceetl.exporter.ring;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The file's shared strings and their numbers. A lookup takes no lock; adding a string takes one.
 *
 * <p>An entry is added to the table only after the file's {@code dictionary end} includes it; both
 * are release stores. So if a writer uses a number from the table in a record and then releases the
 * record, the record's reader can resolve the number.
 */
final class Dictionary {
  static final int NONE = -1;

  /** Longer values are rarely repeated, so hashing them is not worthwhile. */
  private static final int MAX_VALUE_CHARS = 128;

  private static final int MAX_NAME_CHARS = 1024;

  /** Shorter values take no more bytes in a span than a number. */
  private static final int MIN_CHARS = 3;

  private static final int SIGHTINGS = 4096;
  private static final int SIGHTINGS_OF_ONE = 7;

  /** 2^32 divided by the golden ratio, for Fibonacci hashing (Knuth, volume 3, 6.4). */
  private static final int MIX = 0x9E37_79B9;

  private final ByteBuffer file;
  private final int offset;
  private final int bytes;

  /**
   * How often values occurred recently: the hash, with the count in its lowest three bits. Threads
   * write without synchronization: a lost update only delays an entry.
   */
  private final int[] sightings = new int[SIGHTINGS];

  private volatile AtomicReferenceArray<Entry> table = new AtomicReferenceArray<>(256);
  private volatile int end;
  private int size;

  /** Writes at most {@code bytes} from {@code offset} on. */
  Dictionary(ByteBuffer file, int offset, int bytes) {
    this.file = file.duplicate();
    this.offset = offset;
    this.bytes = bytes;
  }

  /** Returns the number of an attribute key, or {@link #NONE} if there is no room. */
  int key(String text) {
    return text.length() > MAX_NAME_CHARS ? NONE : number(text, bytes);
  }

  /**
   * Returns the number of a span or event name, or {@link #NONE}. A quarter of the file is reserved
   * for keys, because some applications have IDs in names.
   */
  int name(String text) {
    return text.length() > MAX_NAME_CHARS ? NONE : number(text, bytes - (bytes >> 2));
  }

  /**
   * Returns the number of a value, or {@link #NONE}. Repeated values get numbers, in half the file.
   */
  int value(String text) {
    int chars = text.length();
    if (chars < MIN_CHARS || chars > MAX_VALUE_CHARS) {
      return NONE;
    }
    int hash = text.hashCode();
    int number = find(text, hash);
    if (number != NONE || !hasRoom(chars, bytes >> 1)) {
      return number;
    }
    int slot = slot(hash, SIGHTINGS);
    int seen = sightings[slot];
    if ((seen & ~SIGHTINGS_OF_ONE) != (hash & ~SIGHTINGS_OF_ONE)) {
      sightings[slot] = hash & ~SIGHTINGS_OF_ONE | 1;
      return NONE;
    }
    if ((seen & SIGHTINGS_OF_ONE) < SIGHTINGS_OF_ONE) {
      sightings[slot] = seen + 1;
      return NONE;
    }
    return add(text, hash, bytes >> 1);
  }

  private int number(String text, int limit) {
    int hash = text.hashCode();
    int number = find(text, hash);
    return number != NONE || text.isEmpty() || !hasRoom(text.length(), limit)
        ? number
        : add(text, hash, limit);
  }

  /** Returns false if a text is too long; it has at least as many bytes as characters. */
  private boolean hasRoom(int chars, int limit) {
    return chars < limit - end;
  }

  private int find(String text, int hash) {
    AtomicReferenceArray<Entry> entries = table;
    int length = entries.length();
    for (int slot = slot(hash, length); ; slot = slot + 1 & length - 1) {
      Entry entry = entries.getAcquire(slot);
      if (entry == null) {
        return NONE;
      }
      if (entry.is(text, hash)) {
        return entry.number;
      }
    }
  }

  private int add(String text, int hash, int limit) {
    int textBytes = Utf8Encoder.length(text);
    int lengthBytes = textBytes < 1 << 7 ? 1 : textBytes < 1 << 14 ? 2 : 3;
    if (textBytes > RingFormat.MAX_ENTRY_BYTES || lengthBytes + textBytes > limit - end) {
      return NONE;
    }
    byte[] entry = new byte[lengthBytes + textBytes];
    int at = 0;
    int rest = textBytes;
    for (; rest >= 0x80; rest >>>= 7) {
      entry[at++] = (byte) (rest | 0x80);
    }
    entry[at++] = (byte) rest;
    Utf8Encoder.write(text, entry, at);
    return add(text, hash, limit, entry);
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
  private synchronized int add(String text, int hash, int limit, byte[] entry) {
    int number = find(text, hash);
    if (number != NONE || entry.length > limit - end) {
      return number;
    }
    file.position(offset + end);
    file.put(entry);
    end += entry.length;
    RingFormat.LONG.setRelease(file, RingFormat.DICTIONARY_END, (long) end);

    number = size++;
    if (2 * size > table.length()) {
      grow();
    }
    insert(table, new Entry(text, hash, number));
    return number;
  }

  private void grow() {
    AtomicReferenceArray<Entry> old = table;
    AtomicReferenceArray<Entry> larger = new AtomicReferenceArray<>(2 * old.length());
    for (int i = 0; i < old.length(); i++) {
      Entry entry = old.getPlain(i);
      if (entry != null) {
        insert(larger, entry);
      }
    }
    table = larger;
  }

  private static void insert(AtomicReferenceArray<Entry> entries, Entry entry) {
    int length = entries.length();
    int slot = slot(entry.hash, length);
    while (entries.getPlain(slot) != null) {
      slot = slot + 1 & length - 1;
    }
    entries.setRelease(slot, entry);
  }

  /**
   * Spreads the hashes of short strings, which are close together, over the table.
   *
   * @param length a power of two
   */
  private static int slot(int hash, int length) {
    return hash * MIX >>> Integer.numberOfLeadingZeros(length) + 1;
  }

  private static final class Entry {
    final String text;
    final int hash;
    final int number;

    Entry(String text, int hash, int number) {
      this.text = text;
      this.hash = hash;
      this.number = number;
    }

    @SuppressWarnings("ReferenceEquality") // names and keys are mostly constants
    boolean is(String other, int otherHash) {
      return text == other || hash == otherHash && text.equals(other);
    }
  }
}
