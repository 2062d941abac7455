package org.traceetl.agent.flow;

import java.util.Arrays;
import org.traceetl.proto.Limits;

/**
 * A reusable list of a span's counted events: names, as slices of byte arrays, and attributes.
 * {@link #clear} removes the events, {@link #forget} also releases the sliced arrays; both keep the
 * capacity.
 */
public final class SpanEvents {
  /** Most events of a span, and most attributes of all its events together. */
  public static final int MAX = Limits.MAX_SPAN_EVENTS;

  private byte[][] names = new byte[4][];
  // Three numbers per event: offset and length of its name, and its first attribute.
  private int[] slices = new int[3 * 4];
  private final Attributes attributes = new Attributes();
  private int size;
  private long nameBytes;
  // From this index on no array is referenced.
  private int mostSinceForgotten;

  /** Removes the events. Their arrays stay referenced until new events replace them. */
  public void clear() {
    if (size > 0) {
      size = 0;
      nameBytes = 0;
      attributes.clear();
    }
  }

  /** Removes the events and releases all arrays. */
  public void forget() {
    Arrays.fill(names, 0, mostSinceForgotten, null);
    mostSinceForgotten = 0;
    clear();
    attributes.forget();
  }

  /** Appends an event, whose attributes follow. Returns false if there are already {@link #MAX}. */
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

  /** Appends an attribute to the last event, unless all events have {@link #MAX} together. */
  public void addAttribute(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength) {
    if (attributes.size() < MAX) {
      attributes.add(key, keyOffset, keyLength, value, valueOffset, valueLength);
    }
  }

  /** Returns the number of events. */
  public int size() {
    return size;
  }

  /** Returns the bytes of all names, keys and values. */
  public long textBytes() {
    return nameBytes + attributes.textBytes();
  }

  /** Returns the array with the name of event {@code i}. */
  public byte[] name(int i) {
    return names[i];
  }

  public int nameOffset(int i) {
    return slices[3 * i];
  }

  public int nameLength(int i) {
    return slices[3 * i + 1];
  }

  /**
   * Returns the attributes of all events; those of event i begin at {@link #firstAttribute} of i.
   */
  public Attributes attributes() {
    return attributes;
  }

  /**
   * Returns the first attribute of event {@code i}; for {@link #size}, the end of all attributes.
   */
  public int firstAttribute(int i) {
    return i == size ? attributes.size() : slices[3 * i + 2];
  }
}
