package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;

/**
 * A file being read, whatever its name is by now. Owned by the source's thread.
 *
 * <p>One chunk of it is under way at a time, so its place is one number: all before it is kept.
 */
final class TailedFile implements AutoCloseable {
  static final int FINGERPRINT_BYTES = 256;

  /** The start of a file: tells it from a later one that got the same number. */
  record Fingerprint(int length, long crc) {
    static Fingerprint of(byte[] bytes, int length) {
      CRC32 crc = new CRC32();
      crc.update(bytes, 0, length);
      return new Fingerprint(length, crc.getValue());
    }
  }

  final Path path;
  final String key;
  private final FileContent content;
  private long position;
  private long sizeAtLastRead;
  private boolean skippingLine;
  private LineChunk underWay;

  /** The file's start as it was read, which may be another than what is there now. */
  private final byte[] start = new byte[FINGERPRINT_BYTES];

  private int startLength;

  /** Places under other keys, which mean nothing once one under this key is kept. */
  final List<FilePosition> replaced = new ArrayList<>();

  /** When it was first seen to have left its path; {@link Long#MIN_VALUE} while it has not. */
  long goneSinceNanos = Long.MIN_VALUE;

  /** How it was seen before all its complete lines were read and kept; null while some are not. */
  Seen readAt;

  /** Not read before this moment. */
  long pausedUntilNanos;

  private TailedFile(Path path, String key, FileContent content) {
    this.path = path;
    this.key = key;
    this.content = content;
  }

  /**
   * A file as it was seen at its path. Nobody has written to it while it is seen the same.
   *
   * @param key tells it from others while it exists, also after a rename
   */
  record Seen(String key, long size, FileTime modified) {
    /**
     * The file at a path.
     *
     * @throws NoSuchFileException when there is no regular file
     */
    static Seen at(Path path) throws IOException {
      BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
      if (!attributes.isRegularFile()) {
        throw new NoSuchFileException(path.toString(), null, "not a regular file");
      }
      return new Seen(
          String.valueOf(attributes.fileKey()), attributes.size(), attributes.lastModifiedTime());
    }
  }

  /** Opens it at its start, if it is still the one with the key. */
  static TailedFile open(Path path, String key) throws IOException {
    FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
    if (!Seen.at(path).key().equals(key)) {
      channel.close();
      throw new IOException("the file was rotated while the agent opened it");
    }
    return new TailedFile(path, key, new FileContent.Plain(channel));
  }

  /** Of the same name as the place, which moves on with what is read. */
  static TailedFile open(FilePosition place, String key, FileContent content, byte[] head) {
    TailedFile file = new TailedFile(place.path(), key, content);
    file.position = place.position();
    file.noteStart(0, head, place.fingerprint().length());
    return file;
  }

  /**
   * Goes on from where an earlier run was, if this is the same file still and no other place was
   * further.
   *
   * @return true if it is the same
   */
  boolean resume(FilePosition place) throws IOException {
    byte[] now = startNow();
    Fingerprint known = place.fingerprint();
    if (place.position() > content.size() || !begins(now, known)) {
      return false;
    }
    if (!place.key().equals(key)) {
      replaced.add(place);
    }
    if (place.position() >= position) {
      position = place.position();
      noteStart(0, now, known.length());
    }
    return true;
  }

  /** True if it begins as what the place is of did. */
  boolean begins(FilePosition place) throws IOException {
    return begins(startNow(), place.fingerprint());
  }

  private static boolean begins(byte[] start, Fingerprint known) {
    return known.length() <= start.length && Fingerprint.of(start, known.length()).equals(known);
  }

  /** Where to go on another time. */
  FilePosition place() {
    return placeAt(position);
  }

  /** The place after bytes that were read. */
  FilePosition placeAt(long offset) {
    // Of as much of the start as is before it: the rest may be half a line.
    int length = (int) Math.min(offset, FINGERPRINT_BYTES);
    return new FilePosition(path, key, offset, Fingerprint.of(start, length));
  }

  /** Offset up to which all is kept. */
  long position() {
    return position;
  }

  /** Bytes not yet kept. */
  long unreadBytes() throws IOException {
    return Math.max(content.size() - position, 0);
  }

  boolean isUnderWay() {
    return underWay != null;
  }

  /** The chunk is on its way through the pipeline. */
  void sent(LineChunk chunk) {
    underWay = chunk;
  }

  /**
   * The chunk's outcome is known. False when it is of no interest: the file was truncated since.
   */
  boolean settled(LineChunk chunk) {
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

  /**
   * After a read: whether there is nothing more to do until the file is seen differently.
   *
   * @param seen the file before the read; null when it was not at its path
   */
  void noteRead(Seen seen) {
    boolean done = seen != null && underWay == null && sizeAtLastRead == seen.size();
    readAt = done && goneSinceNanos == Long.MIN_VALUE ? seen : null;
  }

  /** True when all complete lines are read and kept. */
  boolean isAtEnd() throws IOException {
    return underWay == null && sizeAtLastRead == content.size();
  }

  /** True while the rest of a line that is too long has to be skipped. */
  boolean isSkippingLine() {
    return skippingLine;
  }

  void skippingLine(boolean skipping) {
    skippingLine = skipping;
  }

  /**
   * Looks whether what was read is still there: a truncated file may have grown past its place
   * again. True if the file starts anew.
   */
  boolean startOverIfTruncated() throws IOException {
    if (content.isFinal()) {
      return false;
    }
    byte[] now = startNow();
    if (content.size() >= position
        && now.length >= startLength
        && Arrays.equals(now, 0, startLength, start, 0, startLength)) {
      return false;
    }
    position = 0;
    sizeAtLastRead = 0;
    startLength = 0;
    skippingLine = false;
    underWay = null;
    return true;
  }

  /**
   * Reads from the place on, if there is more than at the last time.
   *
   * @return bytes read into the buffer, from its start
   */
  int read(ByteBuffer buffer) throws IOException {
    buffer.clear();
    long size = content.size();
    if (size == sizeAtLastRead) {
      return 0;
    }
    sizeAtLastRead = size;
    int read = Math.max(content.read(buffer, position), 0);
    noteStart(position, buffer.array(), read);
    return read;
  }

  private void noteStart(long offset, byte[] bytes, int length) {
    if (offset < FINGERPRINT_BYTES) {
      startLength = (int) Math.min(offset + length, FINGERPRINT_BYTES);
      System.arraycopy(bytes, 0, start, (int) offset, startLength - (int) offset);
    }
  }

  private byte[] startNow() throws IOException {
    ByteBuffer now = ByteBuffer.allocate(FINGERPRINT_BYTES);
    while (now.hasRemaining() && content.read(now, now.position()) > 0) {
      // Reads on.
    }
    return Arrays.copyOf(now.array(), now.position());
  }

  @Override
  public void close() throws IOException {
    content.close();
  }
}
