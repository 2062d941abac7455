package org.traceetl.server.journal.format;

import java.util.function.Supplier;
import org.traceetl.server.journal.InconsistentWindowException;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Encodes and decodes the payloads of records.
 *
 * @param newImage creates an image without windows
 */
public record RecordPayloads(Supplier<QueueImage> newImage) {
  /** Creates an image without windows for a sink, which needs no half-edges. */
  public QueueImage newSinkImage() {
    return newImage.get().keepEdges(null);
  }

  /**
   * Returns the payload of a window.
   *
   * @throws InconsistentWindowException if {@link WindowInvariants} do not hold, or if it cannot be
   *     encoded
   */
  public byte[] bytes(SealedWindow window) {
    String violated = WindowInvariants.violated(window);
    if (violated != null) {
      throw inconsistent(window, violated);
    }
    try {
      return encoded(window);
    } catch (RuntimeException e) {
      throw inconsistent(window, "a form that cannot be written: " + e);
    }
  }

  /**
   * Encodes a window for which {@link WindowInvariants} need not hold.
   *
   * @throws InconsistentWindowException if a reader could not decode it
   */
  public byte[] bytesOfInconsistent(SealedWindow window) {
    try {
      byte[] bytes = encoded(window);
      WindowFormat.decode(bytes, 0, bytes.length, window.queue());
      return bytes;
    } catch (MalformedRecordException | RuntimeException e) {
      throw inconsistent(window, "a form that cannot be read: " + e);
    }
  }

  private static byte[] encoded(SealedWindow window) {
    RecordWriter out = new RecordWriter();
    WindowFormat.encode(window, out);
    return out.toByteArray();
  }

  private static InconsistentWindowException inconsistent(SealedWindow window, String violated) {
    return new InconsistentWindowException(
        "window [" + window.from() + ", " + window.to() + ") has " + violated);
  }

  public byte[] bytes(LastMessages read) {
    if (read.isEmpty()) {
      return LogRecord.NO_PAYLOAD;
    }
    RecordWriter out = new RecordWriter();
    LastMessagesFormat.encode(read, out);
    return out.toByteArray();
  }

  public byte[] bytes(QueueImage image) {
    RecordWriter out = new RecordWriter();
    SnapshotFormat.encode(image, out);
    return out.toByteArray();
  }

  /**
   * Returns a window, which may violate {@link WindowInvariants}: it counts for all readers,
   * including those of earlier versions.
   */
  public SealedWindow window(QueueId queue, LogRecord record) throws MalformedRecordException {
    SealedWindow window = WindowFormat.decode(record.payload(), 0, record.payload().length, queue);
    if (window.from() != record.header().from() || window.to() != record.header().to()) {
      throw new MalformedRecordException(
          "window " + window.from() + " to " + window.to() + " in a record of " + record.header());
    }
    return window;
  }

  public QueueImage image(LogRecord record) throws MalformedRecordException {
    return image(record, newImage.get());
  }

  /**
   * @param image without windows; it gets the state
   * @return the image
   */
  public QueueImage image(LogRecord record, QueueImage image) throws MalformedRecordException {
    SnapshotFormat.decode(record.payload(), 0, record.payload().length, image);
    if (!isStateAt(record.header(), image)) {
      throw new MalformedRecordException(
          "snapshot to " + image.to() + " in a record of " + record.header());
    }
    return image;
  }

  /**
   * Returns whether an image may be in a snapshot with this header. The header has no end if
   * earlier records were lost.
   */
  public static boolean isStateAt(RecordHeader header, QueueImage image) {
    return header.to() == JournalLog.NONE || header.to() == image.to();
  }
}
