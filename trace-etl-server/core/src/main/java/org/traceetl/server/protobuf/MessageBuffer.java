package org.traceetl.server.protobuf;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes a message from its end to its beginning, so that the length of a nested message is known
 * before it must be written. The memory is reused. Not thread-safe.
 *
 * <p>Usage: {@link #clear}, then the fields, the last one first. For a nested message write its
 * fields, then {@link #enclose}.
 */
public final class MessageBuffer {
  private static final int INITIAL_BYTES = 4_096;
  private static final int MAX_VARINT_BYTES = 10;
  private static final int TAG_BITS = 3;
  private static final int VARINT = 0;
  private static final int FIXED_64 = 1;
  private static final int BYTES = 2;
  private static final long MILLIS_PER_SECOND = 1_000;
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private byte[] buffer = new byte[INITIAL_BYTES];
  private int begin = INITIAL_BYTES;

  /** Clears the buffer. */
  public void clear() {
    begin = buffer.length;
  }

  /** Returns the number of bytes written. */
  public int size() {
    return buffer.length - begin;
  }

  /**
   * Returns the array whose range {@code [begin(), begin() + size())} contains the message until
   * the next write.
   */
  public byte[] array() {
    return buffer;
  }

  /** Returns the start of the message in {@link #array}. */
  public int begin() {
    return begin;
  }

  public byte[] toByteArray() {
    return Arrays.copyOfRange(buffer, begin, buffer.length);
  }

  private void ensure(int bytes) {
    if (begin < bytes) {
      int size = size();
      int capacity = Math.max(Math.addExact(size, bytes), buffer.length * 2);
      byte[] larger = new byte[capacity];
      System.arraycopy(buffer, begin, larger, capacity - size, size);
      buffer = larger;
      begin = capacity - size;
    }
  }

  /** Writes a field of type uint64, int64 or enum. */
  public void integer(int field, long value) {
    varint(value);
    tag(field, VARINT);
  }

  /** Writes a field of type sint32 or sint64. */
  public void zigZag(int field, long value) {
    varint(value << 1 ^ value >> Long.SIZE - 1);
    tag(field, VARINT);
  }

  /**
   * Writes an element of a packed field of type sint64; {@link #enclose} makes the field from all
   * elements.
   */
  public void packedZigZag(long value) {
    varint(value << 1 ^ value >> Long.SIZE - 1);
  }

  /** Writes a field of type double. */
  public void decimal(int field, double value) {
    bits(field, Double.doubleToRawLongBits(value));
  }

  /**
   * Writes a field of type fixed64, or of type double by its bits: a signaling NaN may not survive
   * as a double.
   */
  public void bits(int field, long value) {
    packedBits(value);
    tag(field, FIXED_64);
  }

  /** Writes an element of a packed field of type uint32 or uint64; see {@link #enclose}. */
  public void packed(long value) {
    varint(value);
  }

  /** Writes an element of a packed field of type fixed64 or double; see {@link #enclose}. */
  public void packedBits(long value) {
    ensure(Long.BYTES);
    begin -= Long.BYTES;
    LONG.set(buffer, begin, value);
  }

  /** Writes a field of type string. */
  public void text(int field, String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    text(field, utf8, 0, utf8.length);
  }

  /** Writes a field of type string or bytes: {@code utf8[from, to)}. */
  public void text(int field, byte[] utf8, int from, int to) {
    int length = to - from;
    ensure(length);
    begin -= length;
    System.arraycopy(utf8, from, buffer, begin, length);
    varint(length);
    tag(field, BYTES);
  }

  /** Writes a field of type google.protobuf.Timestamp. */
  public void timestamp(int field, long millis) {
    int before = size();
    long nanos = Math.floorMod(millis, MILLIS_PER_SECOND) * NANOS_PER_MILLI;
    if (nanos != 0) {
      integer(2, nanos);
    }
    integer(1, Math.floorDiv(millis, MILLIS_PER_SECOND));
    enclose(field, before);
  }

  /**
   * Makes one field of the latest bytes: a message, a string or a packed field.
   *
   * @param sizeBefore value of {@link #size} before them
   */
  public void enclose(int field, int sizeBefore) {
    varint(size() - sizeBefore);
    tag(field, BYTES);
  }

  /**
   * Writes bytes again.
   *
   * @param sizeBefore value of {@link #size} before they were written
   * @param sizeAfter its value after that
   */
  public void again(int sizeBefore, int sizeAfter) {
    int length = sizeAfter - sizeBefore;
    ensure(length);
    begin -= length;
    System.arraycopy(buffer, buffer.length - sizeAfter, buffer, begin, length);
  }

  /** Writes a length, as a stream has it before each message. */
  public void length(long bytes) {
    varint(bytes);
  }

  private void tag(int field, int type) {
    varint((long) field << TAG_BITS | type);
  }

  private void varint(long value) {
    ensure(MAX_VARINT_BYTES);
    if (value >>> 7 == 0) {
      // Usual: tags, and numbers of symbols.
      buffer[--begin] = (byte) value;
      return;
    }
    int bytes = Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(value) + 6) / 7);
    begin -= bytes;
    long rest = value;
    for (int i = begin; i < begin + bytes - 1; i++) {
      buffer[i] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    buffer[begin + bytes - 1] = (byte) rest;
  }
}
