package org.traceetl.exporter.ring;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.util.Arrays;
import java.util.function.BiConsumer;

/**
 * A span's attributes in the order in which they were set first. A second value of a name replaces
 * the first. Not thread-safe.
 */
public final class AttributeList implements BiConsumer<AttributeKey<?>, Object> {
  /** Most spans have at most as many attributes. */
  private static final int INITIAL = 12;

  /** 2^32 divided by the golden ratio, for Fibonacci hashing (Knuth, volume 3, 6.4). */
  private static final int MIX = 0x9E37_79B9;

  private static final int LOG_BITS = 6;

  private final int maxCount;
  private final int maxValueLength;
  private AttributeKey<?>[] keys;
  private Object[] values;
  private int size;
  private int total;

  /** A bit of each name's hash. A name whose bit is missing is new, so it needs no search. */
  private long names;

  /**
   * @param maxCount attributes with further names are dropped
   * @param maxValueLength characters of a text; the rest is cut off
   */
  public AttributeList(int maxCount, int maxValueLength) {
    this.maxCount = maxCount;
    this.maxValueLength = maxValueLength;
    int room = Math.min(INITIAL, maxCount);
    keys = new AttributeKey<?>[room];
    values = new Object[room];
  }

  /** Sets an attribute; ignores an empty key and a null value. */
  @Override
  public void accept(AttributeKey<?> key, Object value) {
    if (key == null || value == null) {
      return;
    }
    String name = key.getKey();
    if (name.isEmpty()) {
      return;
    }
    long bit = 1L << (name.hashCode() * MIX >>> Integer.SIZE - LOG_BITS);
    int at = (names & bit) == 0 ? -1 : find(name);
    if (at < 0) {
      total++;
      if (size == maxCount) {
        return;
      }
      if (size == keys.length) {
        grow();
      }
      names |= bit;
      at = size++;
    }
    keys[at] = key;
    values[at] = maxValueLength == Integer.MAX_VALUE ? value : Shortening.of(value, maxValueLength);
  }

  public int size() {
    return size;
  }

  /** Returns how many names were set, dropped ones included; a dropped name counts each time. */
  public int total() {
    return total;
  }

  /** Returns the value of a key, or null if it has none of its type. */
  @SuppressWarnings("unchecked") // as the types of the keys are equal
  public <T> T get(AttributeKey<T> key) {
    int at = find(key.getKey());
    return at < 0 || keys[at].getType() != key.getType() ? null : (T) values[at];
  }

  /** Returns a copy. */
  @SuppressWarnings("unchecked") // each value was set with its key
  public Attributes toAttributes() {
    AttributesBuilder builder = Attributes.builder();
    for (int i = 0; i < size; i++) {
      builder.put((AttributeKey<Object>) keys[i], values[i]);
    }
    return builder.build();
  }

  /** Returns the array of keys, of which the first {@link #size} are set. */
  AttributeKey<?>[] keys() {
    return keys;
  }

  /** Returns the values of {@link #keys}. */
  Object[] values() {
    return values;
  }

  @SuppressWarnings("ReferenceEquality") // names are mostly constants
  private int find(String name) {
    for (int i = 0; i < size; i++) {
      String known = keys[i].getKey();
      if (known == name || known.equals(name)) {
        return i;
      }
    }
    return -1;
  }

  private void grow() {
    int room = (int) Math.min(maxCount, 2L * keys.length);
    keys = Arrays.copyOf(keys, room);
    values = Arrays.copyOf(values, room);
  }
}
