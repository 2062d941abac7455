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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file being read, whatever its current name is. Owned by the source's thread.
 *
 * <p>One chunk is in progress at a time, so one position suffices: all bytes before it are stored.
 */
final class TailedFile implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TailedFile.class);
  static final int FINGERPRINT_BYTES = 256;

  /** The start of a file; distinguishes it from a later file with the same inode number. */
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

  /** The file's start as it was read; the file may have changed since. */
  private final byte[] start = new byte[FINGERPRINT_BYTES];

  private int startLength;

  /** Positions under other keys; obsolete once a position under this key is stored. */
  final List<FilePosition> replaced = new ArrayList<>();

  /** When the file was first missing from its path; {@link Long#MIN_VALUE} while it is there. */
  long goneSinceNanos = Long.MIN_VALUE;

  /** The file's state before all its complete lines were read and stored; otherwise null. */
  Seen readAt;

  /** The file is not read before this time. */
  long pausedUntilNanos;

  private TailedFile(Path path, String key, FileContent content) {
    this.path = path;
    this.key = key;
    this.content = content;
  }

  /**
   * The state of a file at its path. If the state is unchanged, nothing was written to the file.
   *
   * @param key distinguishes it from other existing files, also after a rename
   */
  record Seen(String key, long size, FileTime modified) {
    /**
     * Reads the state of the file at a path.
     *
     * @throws NoSuchFileException if there is no regular file
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

  /** Opens a file at its start, if it is still the one with the key. */
  static TailedFile open(Path path, String key) throws IOException {
    FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
    if (!Seen.at(path).key().equals(key)) {
      channel.close();
      throw new IOException("the file was rotated while the agent opened it");
    }
    return new TailedFile(path, key, new FileContent.Plain(channel));
  }

  /** Opens content under the position's name; the position moves with what is read. */
  static TailedFile open(FilePosition place, String key, FileContent content, byte[] head) {
    TailedFile file = new TailedFile(place.path(), key, content);
    file.position = place.position();
    file.noteStart(0, head, place.fingerprint().length());
    return file;
  }

  /**
   * Continues at a position of an earlier run, if the file is the same and no other position is
   * further.
   *
   * @return true if it is the same file
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

  /** Returns whether the file's start matches the fingerprint. */
  boolean begins(FilePosition place) throws IOException {
    return begins(startNow(), place.fingerprint());
  }

  private static boolean begins(byte[] start, Fingerprint known) {
    return known.length() <= start.length && Fingerprint.of(start, known.length()).equals(known);
  }

  /** Returns the position to continue from later. */
  FilePosition place() {
    return placeAt(position);
  }

  /** Returns the position after bytes that were read. */
  FilePosition placeAt(long offset) {
    // The fingerprint covers only bytes before the offset; later ones may be half a line.
    int length = (int) Math.min(offset, FINGERPRINT_BYTES);
    return new FilePosition(path, key, offset, Fingerprint.of(start, length));
  }

  /** Returns the offset up to which all bytes are stored. */
  long position() {
    return position;
  }

  /** Returns the bytes not yet stored. */
  long unreadBytes() throws IOException {
    return Math.max(content.size() - position, 0);
  }

  boolean isUnderWay() {
    return underWay != null;
  }

  /** Records that the chunk was accepted by the pipeline. */
  void sent(LineChunk chunk) {
    underWay = chunk;
  }

  /** Takes a chunk's outcome. Returns false if the file was truncated meanwhile. */
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

  /** Skips bytes that contain no line. */
  void skip(int bytes) {
    position += bytes;
    readAgain();
  }

  /** Forgets the last read, so that its bytes are read again. */
  void readAgain() {
    sizeAtLastRead = 0;
  }

  /**
   * After a read, records whether there is nothing to do until the file's state changes.
   *
   * @param seen the file before the read; null if it was not at its path
   */
  void noteRead(Seen seen) {
    boolean done = seen != null && underWay == null && sizeAtLastRead == seen.size();
    readAt = done && goneSinceNanos == Long.MIN_VALUE ? seen : null;
  }

  /** Returns whether all complete lines are read and stored, or the file cannot be measured. */
  boolean isAtEnd() {
    try {
      return underWay == null && sizeAtLastRead == content.size();
    } catch (IOException e) {
      // It can be neither read nor measured, and has no path to find it by.
      return true;
    }
  }

  boolean isAtItsPath() {
    try {
      return Seen.at(path).key().equals(key);
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns whether the rest of a line that is too long must be skipped. */
  boolean isSkippingLine() {
    return skippingLine;
  }

  void skippingLine(boolean skipping) {
    skippingLine = skipping;
  }

  /**
   * Compares the file's start, because a truncated file may have grown past its position again.
   * Returns true if the file is read from its start again.
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
   * Reads from the position on, if the file has changed in size since the last read.
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
      // The loop condition reads.
    }
    return Arrays.copyOf(now.array(), now.position());
  }

  @Override
  public void close() {
    try {
      content.close();
    } catch (IOException e) {
      log.warn("Cannot close {}: {}", path, e.toString());
    }
  }
}
