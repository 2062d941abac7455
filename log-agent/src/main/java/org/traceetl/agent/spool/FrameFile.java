package org.traceetl.agent.spool;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.zip.CRC32C;
import org.traceetl.agent.disk.Disk;

/**
 * A file of frames, each of which is whole or absent. Numbers are big-endian:
 *
 * <pre>
 *  0  4  "TSP1"
 *  4  4  bytes of the content
 *  8  4  batches in it
 * 12  4  spans in them
 * 16  4  CRC-32C of bytes 0 to 15
 * 20  4  CRC-32C of the content
 * 24     the content
 * </pre>
 *
 * The head has its own checksum, so a reader can skip a damaged content and count its batches.
 * After a damaged head the rest of the file is lost. No frame is read that a search found, because
 * a span's text may look like one.
 *
 * <p>One thread appends; any thread may read.
 */
final class FrameFile implements AutoCloseable {
  static final int HEAD_BYTES = 24;

  /** The largest content in bytes; a longer frame is refused on write, and damaged on read. */
  static final int MAX_CONTENT_BYTES = 256 * 1024 * 1024;

  private static final int MAGIC = 'T' << 24 | 'S' << 16 | 'P' << 8 | '1';

  /** The unit in which Linux writes a file to the disk; larger ones are multiples of it. */
  private static final int PAGE_BYTES = 4_096;

  /**
   * The last part of a frame may rightly be this many zeros: a batch ends with its structs' ends.
   */
  private static final int FEWEST_LACKING_BYTES = 16;

  /** Bytes read at once in search of a head. */
  private static final int CHUNK_BYTES = 64 * 1024;

  /** What the reader found at an offset. */
  enum Found {
    FRAME,
    /** A frame whose content does not match its checksum. */
    DAMAGED_CONTENT,
    /** An invalid head, with enough bytes for one. */
    DAMAGED_HEAD,
    /** An incomplete frame at the end of the file. */
    TORN,
    END
  }

  private volatile Path path;
  private final Disk.OpenFile file;
  private final SpoolFiles files;
  private final CRC32C crc = new CRC32C();
  private long end;
  private boolean torn;
  private volatile boolean unsound;

  // The frame read last.
  private long offset;
  private int batches;
  private int spans;
  private byte[] content = new byte[0];
  private int contentLength;

  FrameFile(Path path, Disk.OpenFile file, long end, SpoolFiles files) {
    this.path = path;
    this.file = file;
    this.end = end;
    this.files = files;
  }

  Path path() {
    return path;
  }

  /** Renames the file atomically within its directory. */
  void moveTo(Path name) throws IOException {
    files.move(path, name);
    path = name;
  }

  /** Returns the offset after the last frame. */
  long end() {
    return end;
  }

  /** Returns the bytes of a frame with this content and these bodies. */
  static long frameBytes(FrameBuffer meta, List<SpooledBatch> bodies) {
    long bytes = HEAD_BYTES + (long) meta.length();
    for (SpooledBatch batch : bodies) {
      bytes += batch.length();
    }
    return bytes;
  }

  /**
   * Appends a frame: the given bytes, then the batches' bodies.
   *
   * @param force whether to force the frame to the disk before returning
   * @throws IOException if it failed; the frame is void, and what was written of it is cut off
   *     before the next append
   */
  void append(FrameBuffer meta, Collection<SpooledBatch> bodies, boolean force) throws IOException {
    if (torn) {
      cut();
    }
    int spansOfAll = 0;
    long length = meta.length();
    crc.reset();
    crc.update(meta.array(), 0, meta.length());
    for (SpooledBatch batch : bodies) {
      byte[] body = batch.body();
      if (body == null || body.length != batch.length()) {
        throw new InconsistentBatchException(
            "batch " + batch.sequence() + " of queue " + batch.queue() + " lacks its body");
      }
      crc.update(body, 0, body.length);
      length += batch.length();
      spansOfAll += batch.spans();
    }
    if (length > MAX_CONTENT_BYTES) {
      throw new IOException("a frame of " + length + " bytes is too large");
    }
    int contentCrc = (int) crc.getValue();
    ByteBuffer staging = files.staging();
    staging.clear();
    staging.putInt(MAGIC).putInt((int) length).putInt(bodies.size()).putInt(spansOfAll);
    staging.putInt(headCrc(staging)).putInt(contentCrc);
    torn = true;
    try {
      long at = stage(staging, end, meta.array(), meta.length());
      for (SpooledBatch batch : bodies) {
        at = stage(staging, at, batch.body(), batch.length());
      }
      at = write(staging, at);
      if (force) {
        force();
      }
      end = at;
      torn = false;
    } finally {
      if (torn) {
        tryToCut();
      }
    }
  }

  private int headCrc(ByteBuffer head) {
    crc.reset();
    crc.update(head.duplicate().position(0).limit(16));
    return (int) crc.getValue();
  }

  private long stage(ByteBuffer staging, long at, byte[] bytes, int length) throws IOException {
    long next = at;
    int from = 0;
    while (from < length) {
      int part = Math.min(length - from, staging.remaining());
      staging.put(bytes, from, part);
      from += part;
      if (!staging.hasRemaining()) {
        next = write(staging, next);
      }
    }
    return next;
  }

  private long write(ByteBuffer staging, long at) throws IOException {
    staging.flip();
    long next = at;
    while (staging.hasRemaining()) {
      next += file.write(staging, next);
    }
    staging.clear();
    return next;
  }

  private void tryToCut() {
    try {
      cut();
    } catch (IOException e) {
      // The file stays torn; the next append cuts it again.
    }
  }

  private void cut() throws IOException {
    file.truncate(end);
    torn = false;
  }

  /** Cuts off what a failed append left. */
  void mend() throws IOException {
    if (torn) {
      cut();
    }
  }

  /**
   * Forces appended frames to the disk. Safe for any thread.
   *
   * @throws IOException if it failed; from then on the file is unsound
   */
  void force() throws IOException {
    try {
      file.force();
    } catch (ClosedChannelException e) {
      throw e;
    } catch (IOException e) {
      unsound = true;
      files.forceFailed();
      throw e;
    }
  }

  /**
   * Returns true once a force failed. The system may have dropped unwritten pages, and a later
   * force succeeds nevertheless; needed content must be written to another file. Safe for any
   * thread.
   */
  boolean isUnsound() {
    return unsound;
  }

  /** Reads the frame after the one read last. */
  Found next() throws IOException {
    offset = nextOffset();
    contentLength = 0;
    batches = 0;
    spans = 0;
    long remaining = end - offset;
    if (remaining == 0) {
      return Found.END;
    }
    if (remaining < HEAD_BYTES) {
      return Found.TORN;
    }
    ByteBuffer head = ByteBuffer.wrap(read(offset, HEAD_BYTES));
    int magic = head.getInt();
    int length = head.getInt();
    int batchesInIt = head.getInt();
    int spansInIt = head.getInt();
    if (magic != MAGIC
        || head.getInt() != headCrc(head)
        || length < 1
        || length > MAX_CONTENT_BYTES
        || batchesInIt < 0
        || spansInIt < 0) {
      return Found.DAMAGED_HEAD;
    }
    if (length > remaining - HEAD_BYTES) {
      return Found.TORN;
    }
    batches = batchesInIt;
    spans = spansInIt;
    contentLength = length;
    if (content.length < length) {
      content = new byte[length];
    }
    readFully(offset + HEAD_BYTES, ByteBuffer.wrap(content, 0, length));
    crc.reset();
    crc.update(content, 0, length);
    return head.getInt() == (int) crc.getValue() ? Found.FRAME : Found.DAMAGED_CONTENT;
  }

  /**
   * Returns whether the disk never got a page of the damaged frame that was read last. Linux may
   * extend a file before it writes the pages; if the host fails between, they read as zeros. The
   * frame's begin is in no such page unless its head is lost, because no head begins with zeros.
   */
  boolean lacksPage() throws IOException {
    long to = contentLength == 0 ? offset + HEAD_BYTES : nextOffset();
    long at = offset;
    while (at < to) {
      long next = Math.min((at / PAGE_BYTES + 1) * PAGE_BYTES, end);
      byte[] page = read(at, (int) (next - at));
      if (page.length > FEWEST_LACKING_BYTES && Arrays.equals(page, new byte[page.length])) {
        return true;
      }
      at = next;
    }
    return false;
  }

  /**
   * Returns whether another frame may follow the damaged frame that was read last. After a damaged
   * head, any bytes that look like a head are one.
   */
  boolean mayBeFollowed() throws IOException {
    if (contentLength > 0) {
      return nextOffset() < end;
    }
    for (long from = offset + 1; from + HEAD_BYTES <= end; from += CHUNK_BYTES) {
      int length = (int) Math.min(CHUNK_BYTES + HEAD_BYTES - 1, end - from);
      ByteBuffer bytes = ByteBuffer.wrap(read(from, length));
      for (int at = 0; at + HEAD_BYTES <= length; at++) {
        if (bytes.getInt(at) == MAGIC
            && bytes.getInt(at + 16) == headCrc(bytes.slice(at, HEAD_BYTES))) {
          return true;
        }
      }
    }
    return false;
  }

  private long nextOffset() {
    return contentLength == 0 ? offset : offset + HEAD_BYTES + contentLength;
  }

  /** Returns the offset of the last {@link #next()}, whatever it found. */
  long offset() {
    return offset;
  }

  /** Returns the number of batches in the frame read last. */
  int batches() {
    return batches;
  }

  /** Returns the number of spans in the frame read last. */
  int spans() {
    return spans;
  }

  /** Returns the content of the frame read last; valid until the next read. */
  ByteBuffer content() {
    return ByteBuffer.wrap(content, 0, contentLength);
  }

  /** Cuts off the file at {@link #offset()}. */
  void cutHere() throws IOException {
    end = offset;
    cut();
  }

  /** Releases the memory for reads. */
  void endReading() {
    content = new byte[0];
  }

  /** Reads a range of the file. Safe for any thread. */
  byte[] read(long from, int length) throws IOException {
    byte[] bytes = new byte[length];
    readFully(from, ByteBuffer.wrap(bytes));
    return bytes;
  }

  private void readFully(long from, ByteBuffer into) throws IOException {
    int start = into.position();
    while (into.hasRemaining()) {
      if (file.read(into, from + into.position() - start) < 0) {
        throw new EOFException(path + " ends at byte " + file.size());
      }
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
