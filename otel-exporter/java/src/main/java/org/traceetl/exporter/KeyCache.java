package org.traceetl.exporter;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.AttributeType;

/**
 * Keys of attributes that were set by name. The encoder recognises a key object that it has seen,
 * so equal names should share one. Threads write without synchronization, because keys are
 * immutable: a lost update only makes another object.
 */
final class KeyCache {
  private static final int SLOTS = 512;

  /** 2^32 divided by the golden ratio, for Fibonacci hashing (Knuth, volume 3, 6.4). */
  private static final int MIX = 0x9E37_79B9;

  private final AttributeKey<?>[] keys = new AttributeKey<?>[SLOTS];

  AttributeKey<String> string(String name) {
    return get(name, AttributeType.STRING);
  }

  AttributeKey<Long> number(String name) {
    return get(name, AttributeType.LONG);
  }

  AttributeKey<Double> real(String name) {
    return get(name, AttributeType.DOUBLE);
  }

  AttributeKey<Boolean> bool(String name) {
    return get(name, AttributeType.BOOLEAN);
  }

  @SuppressWarnings("unchecked") // by the type
  private <T> AttributeKey<T> get(String name, AttributeType type) {
    int slot = (name.hashCode() + type.ordinal()) * MIX >>> Integer.numberOfLeadingZeros(SLOTS) + 1;
    AttributeKey<?> key = keys[slot];
    if (key == null || key.getType() != type || !key.getKey().equals(name)) {
      key = create(name, type);
      keys[slot] = key;
    }
    return (AttributeKey<T>) key;
  }

  private static AttributeKey<?> create(String name, AttributeType type) {
    switch (type) {
      case STRING:
        return AttributeKey.stringKey(name);
      case LONG:
        return AttributeKey.longKey(name);
      case DOUBLE:
        return AttributeKey.doubleKey(name);
      default:
        return AttributeKey.booleanKey(name);
    }
  }
}
