package org.traceetl.proto;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Puts batches of one queue into one message, in the format that {@link BundleReader} reads.
 * Reusable. Not thread-safe.
 */
public final class BundleWriter {
  /** Most bytes of a message with more than one batch. */
  public static final int MAX_BYTES = 256 * 1024;

  private static final byte[] NONE = {};

  /** A batch, and where it has its application. */
  private record Part(byte[] batch, int application, int applicationBytes, int spans) {}

  private final List<Part> parts = new ArrayList<>();
  private final SpanBatchReader reader = new SpanBatchReader();

  /** Bytes of the bundle so far. */
  private int bytes;

  /** Begins a message without batches. */
  public void begin() {
    parts.clear();
    bytes = BundleReader.HEADER_BYTES;
    reader.wrap(NONE, 0, 0);
  }

  /**
   * Adds a batch; it must not change until {@link #finish}. Bytes that are no batch have an empty
   * application and no spans in the head.
   *
   * @return false if the message is too full for it; the first one always fits
   */
  public boolean add(byte[] batch) {
    if (!parts.isEmpty()
        && (parts.size() == BundleReader.MAX_PARTS || batch.length > MAX_BYTES - bytes)) {
      return false;
    }
    Part part = part(batch);
    int more = BundleReader.PART_BYTES + part.applicationBytes + batch.length;
    if (!parts.isEmpty() && more > MAX_BYTES - bytes) {
      return false;
    }
    parts.add(part);
    bytes += more;
    return true;
  }

  private Part part(byte[] batch) {
    reader.wrap(batch, 0, batch.length);
    int application = reader.application();
    return application < 0
        ? new Part(batch, 0, 0, reader.spanCount())
        : new Part(
            batch,
            reader.dictionaryOffset(application),
            reader.dictionaryLength(application),
            reader.spanCount());
  }

  /**
   * Returns the message: a single batch as it is, several as a bundle. Drops all references to the
   * batches.
   *
   * @throws IllegalStateException without a batch
   */
  public byte[] finish() {
    if (parts.isEmpty()) {
      throw new IllegalStateException("a message needs a batch");
    }
    byte[] message = parts.size() == 1 ? parts.getFirst().batch : bundle();
    begin();
    return message;
  }

  private byte[] bundle() {
    ByteBuffer out = ByteBuffer.allocate(bytes);
    out.putInt(BundleReader.MAGIC).put((byte) BundleReader.VERSION).putShort((short) parts.size());
    for (Part part : parts) {
      out.putShort((short) part.applicationBytes);
      out.put(part.batch, part.application, part.applicationBytes);
      out.putInt(part.spans).putInt(part.batch.length);
    }
    parts.forEach(part -> out.put(part.batch));
    return out.array();
  }
}
