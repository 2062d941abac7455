package org.traceetl.server.expose;

/**
 * The buffer through which lines of a page are written; it stays in the processor's cache. One
 * thread at a time.
 *
 * <p>Use: {@link #ensure} before every few lines, which says how long they can get; the lines.
 */
public abstract class LineBuffer {
  /** Longest number that is written: a decimal with sign and point, or a timestamp. */
  public static final int MAX_NUMBER_BYTES = 32;

  protected static final int BUFFER_BYTES = 128 * 1024;
  private static final byte[] PAIRS = pairs();

  /** What was written is at its begin, {@link #position} bytes of it. */
  protected byte[] buffer = new byte[BUFFER_BYTES];

  protected int position;

  /** Makes an empty one. */
  protected LineBuffer() {}

  /**
   * Takes bytes that leave the buffer.
   *
   * @param bytes to be read in this call alone
   */
  protected abstract void moveOut(byte[] bytes, int length);

  /** Moves out what is in the buffer. */
  public final void flush() {
    if (position > 0) {
      moveOut(buffer, position);
      position = 0;
    }
  }

  /** Makes room for so many bytes in one piece; what was written before may move out. */
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

  /** Writes again what stands at a position given since the last {@link #ensure}. */
  public final void repeat(int from, int bytes) {
    System.arraycopy(buffer, from, buffer, position, bytes);
    position += bytes;
  }

  public final void write(char ascii) {
    buffer[position++] = (byte) ascii;
  }

  /** Writes a number that is at least 0. */
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

  /** Writes {@code whole + fraction / 10^digits}, without needless zeros. Neither is negative. */
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
