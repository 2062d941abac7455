package org.traceetl.perf.bench.load;

/**
 * A message of {@link SpanStream} whose sequence number can be replaced in place: the same spans
 * can be sent repeatedly without being repeats.
 */
public final class RenamedBatch {
  /** The first sequence number; each one takes five bytes as a zigzag varint. */
  static final long FIRST_SEQUENCE = 1L << 32;

  private static final int SEQUENCE_BYTES = 5;

  private final byte[] message;
  private final int sequenceOffset;

  public RenamedBatch(byte[] message) {
    this.message = message;
    // Version: header and one byte. Agent: header, length, 16 bytes. Epoch: header and varint.
    int at = 2 + 18 + 1;
    while (message[at++] < 0) {}
    sequenceOffset = at + 1;
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
