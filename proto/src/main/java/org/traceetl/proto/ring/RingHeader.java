package org.traceetl.proto.ring;

import static org.traceetl.proto.ring.MalformedRingException.Part.HEADER;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The constant values of a ring's header, within the format's limits.
 *
 * @param headerBytes H
 * @param dictionaryBytes D
 * @param ringBytes C
 * @param processId in the writer's own view, for logs
 * @param processStartMillis since 1970, for logs
 * @param resourceBytes R
 * @param resourceAttributes their declared number
 */
public record RingHeader(
    int headerBytes,
    int dictionaryBytes,
    long ringBytes,
    long processId,
    long processStartMillis,
    int resourceBytes,
    int resourceAttributes) {

  /**
   * Reads and checks a header.
   *
   * @param bytes the file's first {@link RingLayout#RESOURCE_OFFSET} bytes from index 0
   * @throws MalformedRingException if it is not a valid header of this version
   */
  public static RingHeader read(ByteBuffer bytes) throws MalformedRingException {
    ByteBuffer in = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    check(in.limit() >= RingLayout.RESOURCE_OFFSET, "it is shorter than a header");
    check(
        in.getLong(RingLayout.MAGIC_OFFSET) == RingLayout.MAGIC,
        "it does not begin with a ring's magic number");
    int version = in.getInt(RingLayout.VERSION_OFFSET);
    check(version == RingLayout.VERSION, "its version is " + version);
    int headerBytes = in.getInt(RingLayout.HEADER_BYTES_OFFSET);
    check(
        isPages(headerBytes, RingLayout.MAX_HEADER_BYTES), "its header has " + headerBytes + " B");
    long dictionaryBytes = in.getLong(RingLayout.DICTIONARY_BYTES_OFFSET);
    check(
        isPages(dictionaryBytes, RingLayout.MAX_DICTIONARY_BYTES),
        "its dictionary has " + dictionaryBytes + " B");
    long ringBytes = in.getLong(RingLayout.RING_BYTES_OFFSET);
    check(
        ringBytes >= RingLayout.MIN_RING_BYTES
            && ringBytes <= RingLayout.MAX_RING_BYTES
            && Long.bitCount(ringBytes) == 1,
        "its ring has " + ringBytes + " B");
    int resourceBytes = in.getInt(RingLayout.RESOURCE_BYTES_OFFSET);
    check(
        resourceBytes >= 0 && resourceBytes <= headerBytes - RingLayout.RESOURCE_OFFSET,
        "its resource has " + resourceBytes + " B");
    return new RingHeader(
        headerBytes,
        (int) dictionaryBytes,
        ringBytes,
        in.getLong(RingLayout.PROCESS_ID_OFFSET),
        in.getLong(RingLayout.PROCESS_START_OFFSET),
        resourceBytes,
        in.getInt(RingLayout.RESOURCE_ATTRIBUTES_OFFSET));
  }

  /** Returns the file's length: H + D + C. */
  public long fileBytes() {
    return headerBytes + dictionaryBytes + ringBytes;
  }

  private static boolean isPages(long bytes, long most) {
    return bytes >= RingLayout.PAGE_BYTES && bytes <= most && bytes % RingLayout.PAGE_BYTES == 0;
  }

  private static void check(boolean right, String problem) throws MalformedRingException {
    if (!right) {
      throw new MalformedRingException(HEADER, problem);
    }
  }
}
