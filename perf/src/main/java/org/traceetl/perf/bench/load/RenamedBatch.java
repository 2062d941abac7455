package org.traceetl.perf.bench.load;

import java.util.Arrays;

/**
 * A batch whose sequence number can be replaced in place: the same spans can be sent repeatedly
 * without being repeats.
 */
public final class RenamedBatch {
  /** The first sequence number; each one takes five bytes as a zigzag varint. */
  static final long FIRST_SEQUENCE = 1L << 32;

  private static final int SEQUENCE_BYTES = 5;

  private final byte[] message;
  private final int sequenceOffset;

  public RenamedBatch(byte[] batch) {
    // Version: header and one byte. Agent: header, length, 16 bytes. Epoch: header and varint.
    sequenceOffset = afterVarint(batch, 2 + 18 + 1) + 1;
    int restOffset = afterVarint(batch, sequenceOffset);
    int restBytes = batch.length - restOffset;
    message = Arrays.copyOf(batch, sequenceOffset + SEQUENCE_BYTES + restBytes);
    System.arraycopy(batch, restOffset, message, sequenceOffset + SEQUENCE_BYTES, restBytes);
  }

  private static int afterVarint(byte[] bytes, int offset) {
    int at = offset;
    while (bytes[at++] < 0) {}
    return at;
  }

  /** Returns the message with the n-th sequence number, below 2^32. The array is reused. */
  public byte[] named(long n) {
    long zigZag = (FIRST_SEQUENCE + n) << 1;
    for (int i = 0; i < SEQUENCE_BYTES; i++) {
      boolean last = i == SEQUENCE_BYTES - 1;
      message[sequenceOffset + i] = (byte) (last ? zigZag & 0x7f : zigZag & 0x7f | 0x80);
      zigZag >>>= 7;
    }
    return message;
  }
}
