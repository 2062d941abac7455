package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.zip.CRC32;

/**
 * A file being read, whatever its name is by now. Owned by the source's thread.
 *
 * <p>One chunk of it is under way at a time, so its place is one number: all before it is
 * confirmed.
 */
final class TailedFile implements AutoCloseable {
  private static final int FINGERPRINT_BYTES = 256;

  /** The start of a file: tells it from a later one that got the same number. */
  record Fingerprint(int length, long crc) {}

  final Path path;
  final String key;
  private final FileChannel channel;
  private long position;
  private long sizeAtLastRead;
  private boolean skippingLine;
  private Chunk underWay;
  private Fingerprint fingerprint = new Fingerprint(0, 0);

  /** When it was first seen to have left its path; {@link Long#MIN_VALUE} while it has not. */
  long goneSinceNanos = Long.MIN_VALUE;

  /** Not read before this moment. */
  long pausedUntilNanos;

  private TailedFile(Path path, String key, FileChannel channel) {
    this.path = path;
    this.key = key;
    this.channel = channel;
  }

  /** What tells the file at a path from others while it exists, also after a rename. */
  static String keyOf(Path path) throws IOException {
    BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
    if (!attributes.isRegularFile()) {
      throw new IOException("not a regular file");
    }
    return String.valueOf(attributes.fileKey());
  }

  /** Opens it at its start. */
  static TailedFile open(Path path) throws IOException {
    String before = keyOf(path);
    FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
    if (!keyOf(path).equals(before)) {
      channel.close();
      throw new IOException("it was rotated while it was opened");
    }
    return new TailedFile(path, before, channel);
  }

  /** Goes on from where an earlier run was confirmed, if this is the same file still. */
  boolean resume(long savedPosition, Fingerprint saved) throws IOException {
    if (savedPosition > channel.size() || !fingerprintOf(saved.length()).equals(saved)) {
      return false;
    }
    position = savedPosition;
    return true;
  }

  /** Offset up to which all is confirmed. */
  long position() {
    return position;
  }

  /** Bytes not yet confirmed. */
  long unreadBytes() throws IOException {
    return Math.max(channel.size() - position, 0);
  }

  boolean isUnderWay() {
    return underWay != null;
  }

  /** The chunk is on its way through the pipeline. */
  void sent(Chunk chunk) {
    underWay = chunk;
  }

  /**
   * The chunk's outcome is known. False when it is of no interest: the file was truncated since.
   */
  boolean settled(Chunk chunk) {
    if (underWay != chunk) {
      return false;
    }
    underWay = null;
    readAgain();
    if (chunk.isDone()) {
      position = chunk.end;
    }
    return true;
  }

  /** Skips bytes that hold no line. */
  void skip(int bytes) {
    position += bytes;
    readAgain();
  }

  /** What was read last could not be offered. */
  void readAgain() {
    sizeAtLastRead = 0;
  }

  /** True when all complete lines are read and confirmed. */
  boolean isAtEnd() throws IOException {
    return underWay == null && sizeAtLastRead == channel.size();
  }

  /** True while the rest of a line that is too long has to be skipped. */
  boolean isSkippingLine() {
    return skippingLine;
  }

  void skippingLine(boolean skipping) {
    skippingLine = skipping;
  }

  /** Looks for truncation. True if the file starts anew. */
  boolean startOverIfTruncated() throws IOException {
    if (channel.size() >= position) {
      return false;
    }
    position = 0;
    sizeAtLastRead = 0;
    skippingLine = false;
    underWay = null;
    fingerprint = new Fingerprint(0, 0);
    return true;
  }

  /**
   * Reads from the place on, if there is more than at the last time.
   *
   * @return bytes read into the buffer, from its start
   */
  int read(ByteBuffer buffer) throws IOException {
    buffer.clear();
    long size = channel.size();
    if (size == sizeAtLastRead) {
      return 0;
    }
    sizeAtLastRead = size;
    int read = channel.read(buffer, position);
    return Math.max(read, 0);
  }

  /** Of as much of the file's start as is confirmed, up to a bound. */
  Fingerprint fingerprint() throws IOException {
    int length = (int) Math.min(position, FINGERPRINT_BYTES);
    if (fingerprint.length() != length) {
      fingerprint = fingerprintOf(length);
    }
    return fingerprint;
  }

  private Fingerprint fingerprintOf(int length) throws IOException {
    ByteBuffer start = ByteBuffer.allocate(Math.clamp(length, 0, FINGERPRINT_BYTES));
    while (start.hasRemaining() && channel.read(start, start.position()) > 0) {
      // Reads on.
    }
    CRC32 crc = new CRC32();
    crc.update(start.flip());
    return new Fingerprint(start.limit(), crc.getValue());
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
