package org.traceetl.server.expose;

/**
 * A buffer for the lines of a page, small enough for the processor's cache. Not thread-safe.
 *
 * <p>Usage: call {@link #ensure} with the maximum length of the next lines, then write them.
 */
public abstract class LineBuffer {
  /** Maximum length of a number: a decimal with sign and point, or a timestamp. */
  public static final int MAX_NUMBER_BYTES = 32;

  protected static final int BUFFER_BYTES = 128 * 1024;
  private static final byte[] PAIRS = pairs();

  /** Written bytes are at its start, {@link #position} of them. */
  protected byte[] buffer = new byte[BUFFER_BYTES];

  protected int position;

  /** Creates an empty buffer. */
  protected LineBuffer() {}

  /**
   * Receives the bytes that leave the buffer.
   *
   * @param bytes valid during the call only
   */
  protected abstract void moveOut(byte[] bytes, int length);

  /** Moves all bytes out of the buffer. */
  public final void flush() {
    if (position > 0) {
      moveOut(buffer, position);
      position = 0;
    }
  }

  /** Makes contiguous room for the given number of bytes. Earlier bytes may leave the buffer. */
  public final void ensure(int bytes) {
    if (buffer.length - position < bytes) {
      flush();
      if (buffer.length < bytes) {
        buffer = new byte[Math.max(bytes, buffer.length * 2)];
      }
    }
  }

  public final int position() {
    return position;
  }

  public final void write(byte[] bytes) {
    write(bytes, 0, bytes.length);
  }

  public final void write(byte[] bytes, int from, int length) {
    System.arraycopy(bytes, from, buffer, position, length);
    position += length;
  }

  /** Overwrites bytes at a position returned since the last {@link #ensure}. */
  public final void repeat(int from, int bytes) {
    System.arraycopy(buffer, from, buffer, position, bytes);
    position += bytes;
  }

  public final void write(char ascii) {
    buffer[position++] = (byte) ascii;
  }

  /** Writes a number, which must not be negative. */
  public final void write(long number) {
    int end = position + digits(number);
    position = end;
    long rest = number;
    while (rest >= 100) {
      long hundreds = rest / 100;
      int pair = (int) (rest - hundreds * 100) * 2;
      buffer[--end] = PAIRS[pair + 1];
      buffer[--end] = PAIRS[pair];
      rest = hundreds;
    }
    if (rest >= 10) {
      buffer[--end] = PAIRS[(int) rest * 2 + 1];
      buffer[--end] = PAIRS[(int) rest * 2];
    } else {
      buffer[--end] = (byte) ('0' + rest);
    }
  }

  /**
   * Writes {@code whole + fraction / 10^digits} without trailing zeros. Neither may be negative.
   */
  public final void write(long whole, long fraction, int digits) {
    write(whole);
    if (fraction == 0) {
      return;
    }
    write('.');
    long rest = fraction;
    for (int i = position + digits - 1; i >= position; i--) {
      buffer[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    position += digits;
    while (buffer[position - 1] == '0') {
      position--;
    }
  }

  private static int digits(long number) {
    int digits = 1;
    for (long bound = 10; number >= bound && digits < 19; bound *= 10) {
      digits++;
    }
    return digits;
  }

  private static byte[] pairs() {
    byte[] pairs = new byte[200];
    for (int i = 0; i < 100; i++) {
      pairs[2 * i] = (byte) ('0' + i / 10);
      pairs[2 * i + 1] = (byte) ('0' + i % 10);
    }
    return pairs;
  }
}
