package org.traceetl.agent.source.payload;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes attribute values that are not strings as text, into one reused array.
 *
 * <p>When the array grows, a new one replaces it; existing slices keep the old one. So a slice is
 * valid until {@link #rewind} and the next write. A value has at most {@link #MAX_VALUE_BYTES}; a
 * longer one sets {@link #overflowed}. Not thread-safe.
 */
public final class ValueText {
  /** Longest value, bytes. */
  public static final int MAX_VALUE_BYTES = 65_535;

  private static final byte[] TRUE = ascii("true");
  private static final byte[] FALSE = ascii("false");
  private static final byte[] LONG_MIN = ascii("-9223372036854775808");
  private static final byte[] HEX = ascii("0123456789abcdef");
  private static final byte[] BASE64 =
      ascii("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  // A double distinguishes numbers of 15 digits, so a match of 15 digits is the shortest.
  private static final long MAX_EXACT_DIGITS = 1_000_000_000_000_000L;

  private byte[] bytes = new byte[4096];
  private int position;
  private int valueStart;
  private boolean overflowed;

  /** Returns the current array; it holds all text before {@link #position}. */
  public byte[] bytes() {
    return bytes;
  }

  public int position() {
    return position;
  }

  /** Discards text from {@code to} on. */
  public void rewind(int to) {
    position = to;
  }

  /** Starts a value. */
  public void begin() {
    valueStart = position;
    overflowed = false;
  }

  /** Returns whether the current value exceeds the limit; its text is cut. */
  public boolean overflowed() {
    return overflowed;
  }

  public void put(int character) {
    if (room(1)) {
      bytes[position++] = (byte) character;
    }
  }

  public void bool(boolean value) {
    ascii(value ? TRUE : FALSE);
  }

  /** Writes a long as {@link Long#toString(long)} does. */
  public void integer(long value) {
    if (value == Long.MIN_VALUE) {
      ascii(LONG_MIN);
      return;
    }
    if (value < 0) {
      put('-');
    }
    digits(Math.abs(value), 1);
  }

  /**
   * Writes the shortest decimal that reads back as the value. From 0.001 to below 10^15 it has no
   * exponent; outside, it is {@link Double#toString(double)}. Only that call allocates.
   */
  public void real(double value) {
    double magnitude = Math.abs(value);
    if (magnitude == 0 || magnitude >= 1e-3 && magnitude < MAX_EXACT_DIGITS) {
      long scale = 1;
      for (int decimals = 0; decimals <= 15; decimals++, scale *= 10) {
        double scaled = magnitude * scale;
        if (scaled >= MAX_EXACT_DIGITS) {
          break;
        }
        long whole = Math.round(scaled);
        if ((double) whole / scale == magnitude) {
          if (Double.doubleToRawLongBits(value) < 0) {
            put('-');
          }
          digits(whole / scale, 1);
          put('.');
          digits(whole % scale, Math.max(decimals, 1));
          return;
        }
      }
    }
    ascii(ascii(Double.toString(value)));
  }

  /** Writes base64 with the standard alphabet and padding. */
  public void base64(byte[] in, int from, int to) {
    int at = from;
    for (; to - at >= 3; at += 3) {
      int group = (in[at] & 0xFF) << 16 | (in[at + 1] & 0xFF) << 8 | in[at + 2] & 0xFF;
      put(BASE64[group >> 18]);
      put(BASE64[group >> 12 & 63]);
      put(BASE64[group >> 6 & 63]);
      put(BASE64[group & 63]);
    }
    if (at < to) {
      boolean two = to - at == 2;
      int group = (in[at] & 0xFF) << 16 | (two ? (in[at + 1] & 0xFF) << 8 : 0);
      put(BASE64[group >> 18]);
      put(BASE64[group >> 12 & 63]);
      put(two ? BASE64[group >> 6 & 63] : '=');
      put('=');
    }
  }

  /** Writes UTF-8 as a JSON string in quotes. */
  public void quoted(byte[] in, int from, int to) {
    put('"');
    for (int at = from; at < to && !overflowed; at++) {
      byte b = in[at];
      if (b == '"' || b == '\\') {
        put('\\');
        put(b);
      } else if (b >= 0 && b < ' ') {
        put('\\');
        put('u');
        put('0');
        put('0');
        put(HEX[b >> 4]);
        put(HEX[b & 15]);
      } else {
        put(b);
      }
    }
    put('"');
  }

  private void digits(long value, int atLeast) {
    int count = 1;
    for (long rest = value / 10; rest != 0; rest /= 10) {
      count++;
    }
    count = Math.max(count, atLeast);
    if (!room(count)) {
      return;
    }
    position += count;
    long rest = value;
    for (int at = position - 1; count > 0; count--, rest /= 10) {
      bytes[at--] = (byte) ('0' + rest % 10);
    }
  }

  private void ascii(byte[] text) {
    if (room(text.length)) {
      System.arraycopy(text, 0, bytes, position, text.length);
      position += text.length;
    }
  }

  private boolean room(int count) {
    if (position + count - valueStart > MAX_VALUE_BYTES) {
      overflowed = true;
      return false;
    }
    if (position + count > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(position + count, 2 * bytes.length));
    }
    return true;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
