package org.traceetl.server.journal.format;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Writes a record into a reused buffer that grows. The types are:
 *
 * <ul>
 *   <li>unsigned: a varint, 7 bits a byte, low ones first, at most 10 bytes;
 *   <li>signed: the same after zig-zag;
 *   <li>fixed: 8 bytes, big-endian;
 *   <li>text: unsigned 0 for null; 1 for one not written before, then its length in bytes,
 *       unsigned, and its UTF-8; 2 + n for the n-th written in full;
 *   <li>sparse: a bitmap of one bit a number, low ones first, then as unsigned those that are not
 *       0.
 * </ul>
 *
 * <p>For one thread at a time.
 */
public final class RecordWriter {
  static final int NULL = 0;
  static final int NEW = 1;
  static final int KNOWN = 2;

  private static final int INITIAL_BYTES = 1_024;
  private static final int MAX_VARINT_BYTES = 10;
  private static final VarHandle FIXED =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final Map<String, Integer> texts = new HashMap<>();
  private byte[] buffer = new byte[INITIAL_BYTES];
  private int size;

  /** Starts a record. */
  public void clear() {
    size = 0;
    texts.clear();
  }

  /** Returns the array with the record in {@code [0, size())}, valid until the next write. */
  public byte[] buffer() {
    return buffer;
  }

  /** Returns the number of bytes written. */
  public int size() {
    return size;
  }

  public byte[] toByteArray() {
    return Arrays.copyOf(buffer, size);
  }

  private void ensure(int bytes) {
    if (bytes > buffer.length - size) {
      int needed = Math.addExact(size, bytes);
      buffer = Arrays.copyOf(buffer, (int) Math.min(Integer.MAX_VALUE - 8, needed * 2L));
    }
  }

  public void octet(int value) {
    ensure(1);
    buffer[size++] = (byte) value;
  }

  public void fixed(long value) {
    ensure(Long.BYTES);
    FIXED.set(buffer, size, value);
    size += Long.BYTES;
  }

  public void unsigned(long value) {
    ensure(MAX_VARINT_BYTES);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      buffer[size++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    buffer[size++] = (byte) rest;
  }

  public void signed(long value) {
    unsigned(value << 1 ^ value >> (Long.SIZE - 1));
  }

  /**
   * @param text may be null
   */
  public void text(String text) {
    if (text == null) {
      unsigned(NULL);
      return;
    }
    Integer known = texts.putIfAbsent(text, texts.size());
    if (known != null) {
      unsigned(KNOWN + known);
      return;
    }
    byte[] utf8 = text.getBytes(UTF_8);
    unsigned(NEW);
    unsigned(utf8.length);
    ensure(utf8.length);
    System.arraycopy(utf8, 0, buffer, size, utf8.length);
    size += utf8.length;
  }

  /** Appends the bytes of another writer. */
  void bytes(RecordWriter other) {
    ensure(other.size);
    System.arraycopy(other.buffer, 0, buffer, size, other.size);
    size += other.size;
  }

  /** Writes the numbers {@code values[from, from + length)}. */
  void sparse(long[] values, int from, int length) {
    int bitmap = size;
    int bytes = sparseBytes(length);
    ensure(bytes);
    Arrays.fill(buffer, size, size + bytes, (byte) 0);
    size += bytes;
    for (int i = 0; i < length; i++) {
      if (values[from + i] != 0) {
        buffer[bitmap + i / Byte.SIZE] |= (byte) (1 << i % Byte.SIZE);
        unsigned(values[from + i]);
      }
    }
  }

  /** Returns the minimum size of the given number of sparse values. */
  static int sparseBytes(int length) {
    return (length + Byte.SIZE - 1) / Byte.SIZE;
  }
}
