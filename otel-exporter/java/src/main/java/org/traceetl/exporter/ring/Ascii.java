package org.traceetl.exporter.ring;

/** Copies characters, one byte each. */
final class Ascii {
  private Ascii() {}

  /** Copies the first {@code count} characters of {@code text}; all of them are ASCII. */
  @SuppressWarnings("deprecation") // other characters lose bits; no other method only copies
  static void copy(String text, int count, byte[] out, int at) {
    text.getBytes(0, count, out, at);
  }
}
