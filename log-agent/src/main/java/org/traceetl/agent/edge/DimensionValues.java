package org.traceetl.agent.edge;

import java.util.Arrays;
import org.traceetl.agent.flow.Attributes;

/**
 * The values of {@link EdgeAttributes dimensions} of one span or resource, as slices of its arrays.
 * Mutable; allocates nothing after its creation.
 */
public final class DimensionValues {
  /** Without dimensions. */
  public static final DimensionValues NONE = new DimensionValues(0);

  /** Most bytes of a value: as many as servers keep by default. Cuts are between characters. */
  public static final int MAX_BYTES = 1_024;

  private static final int ABSENT = -1;
  private static final byte[] EMPTY = new byte[0];

  private final byte[][] bytes;
  private final int[] offsets;
  private final int[] lengths;

  /** Creates values of which all are absent. */
  public DimensionValues(int dimensions) {
    bytes = new byte[dimensions][];
    offsets = new int[dimensions];
    lengths = new int[dimensions];
    clear();
  }

  /** Removes all values, and with them the references to arrays. */
  public void clear() {
    Arrays.fill(bytes, EMPTY);
    Arrays.fill(lengths, ABSENT);
  }

  /** Sets the values that the attributes have; of equal keys the last one. */
  public void read(EdgeAttributes keys, Attributes attributes) {
    int size = attributes.size();
    for (int i = 0; i < size; i++) {
      int dimension =
          keys.find(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i));
      if (dimension >= 0) {
        set(dimension, attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i));
      }
    }
  }

  /** Sets a value; a longer one is cut. */
  public void set(int dimension, byte[] value, int offset, int length) {
    bytes[dimension] = value;
    offsets[dimension] = offset;
    lengths[dimension] = PeerAttributes.cut(value, offset, length, MAX_BYTES);
  }

  /** Returns whether there is a value, which may be empty. */
  public boolean has(int dimension) {
    return lengths[dimension] != ABSENT;
  }

  /** Returns the array with the value. */
  public byte[] bytes(int dimension) {
    return bytes[dimension];
  }

  public int offset(int dimension) {
    return offsets[dimension];
  }

  /** Returns the bytes of the value, at most {@link #MAX_BYTES}; below 0 without a value. */
  public int length(int dimension) {
    return lengths[dimension];
  }
}
