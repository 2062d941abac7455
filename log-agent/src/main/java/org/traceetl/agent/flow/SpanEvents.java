package org.traceetl.agent.flow;

import java.util.Arrays;
import org.traceetl.proto.Limits;

/**
 * Events of a span that are to be counted: names, as slices of byte arrays, and attributes. Reused:
 * {@link #clear} forgets the events, {@link #forget} the arrays they were slices of as well; both
 * keep the room for them.
 */
public final class SpanEvents {
  /** Most events of a span, and most attributes of all of them together. */
  public static final int MAX = Limits.MAX_SPAN_EVENTS;

  private byte[][] names = new byte[4][];
  // Three numbers an event: offset and length of its name, and where its attributes begin.
  private int[] slices = new int[3 * 4];
  private final Attributes attributes = new Attributes();
  private int size;
  private long nameBytes;
  // Above it no array is held.
  private int mostSinceForgotten;

  /** Forgets the events. Their arrays are still held, until others take their place. */
  public void clear() {
    if (size > 0) {
      size = 0;
      nameBytes = 0;
      attributes.clear();
    }
  }

  /** Forgets the events and lets go of all arrays. */
  public void forget() {
    Arrays.fill(names, 0, mostSinceForgotten, null);
    mostSinceForgotten = 0;
    clear();
    attributes.forget();
  }

  /** Adds an event; attributes of it follow. False if there are {@link #MAX}: it is left out. */
  public boolean add(byte[] name, int offset, int length) {
    if (size == MAX) {
      return false;
    }
    if (size == names.length) {
      names = Arrays.copyOf(names, 2 * size);
      slices = Arrays.copyOf(slices, 6 * size);
    }
    names[size] = name;
    slices[3 * size] = offset;
    slices[3 * size + 1] = length;
    slices[3 * size + 2] = attributes.size();
    size++;
    nameBytes += length;
    mostSinceForgotten = Math.max(mostSinceForgotten, size);
    return true;
  }

  /** Adds an attribute to the event added last; left out where all have {@link #MAX}. */
  public void addAttribute(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength) {
    if (attributes.size() < MAX) {
      attributes.add(key, keyOffset, keyLength, value, valueOffset, valueLength);
    }
  }

  /** Events. */
  public int size() {
    return size;
  }

  /** Bytes of all names, keys and values. */
  public long textBytes() {
    return nameBytes + attributes.textBytes();
  }

  /** The array that holds the name of event {@code i}. */
  public byte[] name(int i) {
    return names[i];
  }

  public int nameOffset(int i) {
    return slices[3 * i];
  }

  public int nameLength(int i) {
    return slices[3 * i + 1];
  }

  /** Those of all events: of event i from {@link #firstAttribute} of i to that of i + 1. */
  public Attributes attributes() {
    return attributes;
  }

  /** The first attribute of event {@code i}; for {@link #size} the end of the last one's. */
  public int firstAttribute(int i) {
    return i == size ? attributes.size() : slices[3 * i + 2];
  }
}
