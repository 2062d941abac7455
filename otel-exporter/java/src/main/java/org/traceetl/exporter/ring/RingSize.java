package org.traceetl.exporter.ring;

/** The sizes of a ring's parts, bytes. */
public final class RingSize {
  public static final int DEFAULT_RING_BYTES = 4 << 20;
  public static final int DEFAULT_DICTIONARY_BYTES = 256 << 10;

  private static final int MIN_RING_BYTES = 64 << 10;
  private static final int MAX_RING_BYTES = 1 << 30;
  private static final int MAX_DICTIONARY_BYTES = 16 << 20;

  final int ringBytes;
  final int dictionaryBytes;

  private RingSize(int ringBytes, int dictionaryBytes) {
    this.ringBytes = ringBytes;
    this.dictionaryBytes = dictionaryBytes;
  }

  /** Returns the bytes for spans that the agent has not read yet. */
  public int ringBytes() {
    return ringBytes;
  }

  /**
   * @param ringBytes for spans that the agent has not read yet: a power of two, 64 KiB to 1 GiB
   * @param dictionaryBytes for strings that spans share: a multiple of 4,096, at most 16 MiB
   * @throws IllegalArgumentException if a value is not valid; the message names it
   */
  public static RingSize of(long ringBytes, long dictionaryBytes) {
    if (ringBytes < MIN_RING_BYTES || ringBytes > MAX_RING_BYTES || Long.bitCount(ringBytes) != 1) {
      throw new IllegalArgumentException(
          "ring-bytes = " + ringBytes + ": must be a power of two from 65536 to 1073741824");
    }
    if (dictionaryBytes < RingFormat.PAGE
        || dictionaryBytes > MAX_DICTIONARY_BYTES
        || dictionaryBytes % RingFormat.PAGE != 0) {
      throw new IllegalArgumentException(
          "dictionary-bytes = "
              + dictionaryBytes
              + ": must be a multiple of 4096 from 4096 to 16777216");
    }
    return new RingSize((int) ringBytes, (int) dictionaryBytes);
  }
}
