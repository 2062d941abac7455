package org.traceetl.proto.ring;

/**
 * Walks records that were copied out of a ring, one after the other, and stops at spans. It trusts
 * none of their lengths. Allocates nothing; not thread-safe.
 */
public final class RingRecords {
  private byte[] bytes = new byte[0];
  private int end;
  private int next;
  private int bodyOffset;
  private int bodyEnd;

  /**
   * Begins with {@code bytes[0, length)}.
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

  /** Goes to the next span; false when there is none. */
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

  /** Where the span's body begins. */
  public int bodyOffset() {
    return bodyOffset;
  }

  /** Where it ends. */
  public int bodyEnd() {
    return bodyEnd;
  }
}
