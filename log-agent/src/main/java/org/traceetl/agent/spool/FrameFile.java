package org.traceetl.agent.spool;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * A file of frames, each of which is there whole or not at all. Numbers are big-endian:
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
 * The head has a checksum of its own, so that a damaged content can be stepped over, and what was
 * in it counted. Behind a damaged head the file is given up: frames are never searched for, since
 * the text of a span may look like one.
 *
 * <p>One thread appends; any may read.
 */
final class FrameFile implements AutoCloseable {
  static final int HEAD_BYTES = 24;

  /** Larger frames are neither written nor believed. */
  static final int MAX_CONTENT_BYTES = 256 * 1024 * 1024;

  private static final int MAGIC = 'T' << 24 | 'S' << 16 | 'P' << 8 | '1';
  private static final int STAGING_BYTES = 256 * 1024;

  /** What stands at a place in the file. */
  enum Found {
    FRAME,
    /** A frame whose content is not what was written. */
    DAMAGED_CONTENT,
    /** No frame, though there are bytes enough for a head. */
    DAMAGED_HEAD,
    /** The beginning of a frame. */
    TORN,
    END
  }

  /** Brings what was written to a file to the disk. */
  interface Force {
    /** The file's content, and of its metadata what is needed to read it. */
    Force CONTENT = (path, channel) -> channel.force(false);

    void force(Path path, FileChannel channel) throws IOException;
  }

  private volatile Path path;
  private final FileChannel channel;
  private final Force force;
  private final CRC32C crc = new CRC32C();
  // Owned by the appending thread, like the rest: one size of native memory for frames of any.
  private ByteBuffer staging;
  private long end;
  private boolean torn;
  private volatile boolean unsound;

  // What was read last.
  private long offset;
  private int batches;
  private int spans;
  private byte[] content = new byte[0];
  private int contentLength;

  private FrameFile(Path path, FileChannel channel, Force force, long end) {
    this.path = path;
    this.channel = channel;
    this.force = force;
    this.end = end;
  }

  /** Makes an empty one that is never forced. */
  static FrameFile create(Path path) throws IOException {
    return create(path, Force.CONTENT);
  }

  /** Makes an empty one, also where a file of that name is left from a force that failed. */
  static FrameFile create(Path path, Force force) throws IOException {
    Files.deleteIfExists(path);
    return open(
        path,
        force,
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  /** Opens one that is there and is never forced, to be read from its start. */
  static FrameFile open(Path path) throws IOException {
    return open(path, Force.CONTENT);
  }

  /** Opens one that is there, to be read from its start. */
  static FrameFile open(Path path, Force force) throws IOException {
    return open(path, force, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  private static FrameFile open(Path path, Force force, Set<OpenOption> options)
      throws IOException {
    FileChannel channel = FileChannel.open(path, options);
    try {
      return new FrameFile(path, channel, force, channel.size());
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  Path path() {
    return path;
  }

  /** Gives the file its final name, in the same directory, in one step. */
  void moveTo(Path name) throws IOException {
    Files.move(path, name, StandardCopyOption.ATOMIC_MOVE);
    path = name;
  }

  /** Offset behind the last frame: the size of the file. */
  long end() {
    return end;
  }

  /** Bytes of a frame with the content. */
  static long frameBytes(FrameBuffer meta, List<SpooledBatch> bodies) {
    long bytes = HEAD_BYTES + (long) meta.length();
    for (SpooledBatch batch : bodies) {
      bytes += batch.length();
    }
    return bytes;
  }

  /**
   * Appends a frame: the given bytes, then the bodies of the batches.
   *
   * @param force whether it has to be on the disk on return
   * @throws IOException when it failed; then nothing of the frame counts, and nothing more is
   *     written before what there is of it is cut off
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
      crc.update(batch.body(), 0, batch.length());
      length += batch.length();
      spansOfAll += batch.spans();
    }
    if (length > MAX_CONTENT_BYTES) {
      throw new IOException("a frame of " + length + " bytes is too large");
    }
    int contentCrc = (int) crc.getValue();
    if (staging == null) {
      staging = ByteBuffer.allocateDirect(STAGING_BYTES);
    }
    staging.clear();
    staging.putInt(MAGIC).putInt((int) length).putInt(bodies.size()).putInt(spansOfAll);
    staging.putInt(headCrc(staging)).putInt(contentCrc);
    torn = true;
    try {
      long at = stage(end, meta.array(), meta.length());
      for (SpooledBatch batch : bodies) {
        at = stage(at, batch.body(), batch.length());
      }
      at = writeStaged(at);
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

  private long stage(long at, byte[] bytes, int length) throws IOException {
    long next = at;
    int from = 0;
    while (from < length) {
      int part = Math.min(length - from, staging.remaining());
      staging.put(bytes, from, part);
      from += part;
      if (!staging.hasRemaining()) {
        next = writeStaged(next);
      }
    }
    return next;
  }

  private long writeStaged(long at) throws IOException {
    staging.flip();
    long next = at;
    while (staging.hasRemaining()) {
      next += channel.write(staging, next);
    }
    staging.clear();
    return next;
  }

  private void tryToCut() {
    try {
      cut();
    } catch (IOException e) {
      // Stays torn: it is tried again before the next frame.
    }
  }

  private void cut() throws IOException {
    channel.truncate(end);
    torn = false;
  }

  /** False while a frame that failed may still be there, whole or in part. */
  boolean isWhole() {
    return !torn;
  }

  /** Cuts off what a failed append left, if it did. */
  void mend() throws IOException {
    if (torn) {
      cut();
    }
  }

  /** Nothing more is appended. */
  void endAppending() {
    staging = null;
  }

  /**
   * Brings what was appended to the disk. Safe for any thread.
   *
   * @throws IOException when it failed; from then on the file is unsound
   */
  void force() throws IOException {
    try {
      force.force(path, channel);
    } catch (ClosedChannelException e) {
      throw e;
    } catch (IOException e) {
      unsound = true;
      throw e;
    }
  }

  /**
   * True once a force failed. The system may have dropped what it could not write, and a later
   * force succeeds all the same: what is needed of the file is to be written to another one. Safe
   * for any thread.
   */
  boolean isUnsound() {
    return unsound;
  }

  /** Reads what stands behind the frame that was read last. */
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

  private long nextOffset() {
    return contentLength == 0 ? offset : offset + HEAD_BYTES + contentLength;
  }

  /** Where the frame that was read last, or what is there instead, begins. */
  long offset() {
    return offset;
  }

  /** Batches of the frame read last. */
  int batches() {
    return batches;
  }

  /** Spans of the frame read last. */
  int spans() {
    return spans;
  }

  /** The content of the frame read last, until the next one is read. */
  ByteBuffer content() {
    return ByteBuffer.wrap(content, 0, contentLength);
  }

  /** Cuts off what stands behind the frame that was read last, as what is torn. */
  void cutHere() throws IOException {
    end = offset;
    cut();
  }

  /** Lets go of what was read. */
  void endReading() {
    content = new byte[0];
  }

  /** These bytes of the file. Safe for any thread. */
  byte[] read(long from, int length) throws IOException {
    byte[] bytes = new byte[length];
    readFully(from, ByteBuffer.wrap(bytes));
    return bytes;
  }

  private void readFully(long from, ByteBuffer into) throws IOException {
    int start = into.position();
    while (into.hasRemaining()) {
      if (channel.read(into, from + into.position() - start) < 0) {
        throw new EOFException(path + " ends at byte " + channel.size());
      }
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
