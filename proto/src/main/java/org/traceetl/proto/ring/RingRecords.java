package org.traceetl.proto.ring;

/**
 * Iterates over records copied out of a ring and stops at spans. Checks all of their lengths.
 * Allocates nothing; not thread-safe.
 */
public final class RingRecords {
  private byte[] bytes = new byte[0];
  private int end;
  private int next;
  private int bodyOffset;
  private int bodyEnd;

  /**
   * Starts with {@code bytes[0, length)}.
   *
   * @return false if they are not records from the first to the last byte
   */
  public boolean wrap(byte[] bytes, int length) {
    this.bytes = bytes;
    end = length;
    next = 0;
    while (next < end) {
      if (!step()) {
        return false;
      }
    }
    next = 0;
    return true;
  }

  /** Moves to the next span; returns false after the last one. */
  public boolean next() {
    while (next < end) {
      int at = next;
      if (!step()) {
        return false;
      }
      if (LittleEndian.getInt(bytes, at + RingLayout.RECORD_TYPE_OFFSET) == RingLayout.TYPE_SPAN) {
        return true;
      }
    }
    return false;
  }

  private boolean step() {
    if (end - next < RingLayout.RECORD_HEADER_BYTES) {
      return false;
    }
    int length = LittleEndian.getInt(bytes, next);
    if (length < RingLayout.RECORD_HEADER_BYTES || RingLayout.takenBytes(length) > end - next) {
      return false;
    }
    bodyOffset = next + RingLayout.RECORD_HEADER_BYTES;
    bodyEnd = next + length;
    next += (int) RingLayout.takenBytes(length);
    return true;
  }

  public int bodyOffset() {
    return bodyOffset;
  }

  public int bodyEnd() {
    return bodyEnd;
  }
}
