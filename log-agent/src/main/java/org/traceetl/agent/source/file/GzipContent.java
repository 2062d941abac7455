package org.traceetl.agent.source.file;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A compressed trace log, decompressed from its start into a window that only moves forward. If the
 * file is damaged, the content ends at the first unreadable byte.
 */
final class GzipContent implements FileContent {
  private static final Logger log = LoggerFactory.getLogger(GzipContent.class);

  /** Most bytes skipped in one call, so that the thread can do other work. */
  private static final long MOST_SKIPPED_BYTES = 64L << 20;

  /** Most bytes decompressed after the first position read; trace logs are shorter. */
  static final long MOST_BYTES = 4L << 30;

  private final Path path;
  private final InputStream in;
  private final byte[] window;
  private long windowStart;
  private int windowLength;
  private long limit = -1;
  private boolean ended;

  /**
   * @param windowBytes most bytes of one read
   */
  GzipContent(Path path, int windowBytes) throws IOException {
    this.path = path;
    this.in = open(path);
    this.window = new byte[windowBytes];
  }

  /** Returns the first decompressed bytes; fewer if the file is shorter. */
  static byte[] head(Path path, int bytes) throws IOException {
    try (InputStream in = open(path)) {
      return in.readNBytes(bytes);
    }
  }

  /** Returns the first bytes; fewer if the file is shorter. Call this before any read. */
  byte[] head(int bytes) throws IOException {
    windowLength = in.readNBytes(window, 0, bytes);
    return Arrays.copyOf(window, windowLength);
  }

  /** Returns the lower 32 bits of the decompressed length, which the file declares at its end. */
  static int declaredLength(Path path) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      file.seek(Math.max(file.length() - Integer.BYTES, 0));
      return Integer.reverseBytes(file.readInt());
    }
  }

  private static InputStream open(Path path) throws IOException {
    InputStream file = Files.newInputStream(path);
    try {
      return new GZIPInputStream(new BufferedInputStream(file, 64 * 1024), 64 * 1024);
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  @Override
  public long size() {
    return windowStart + windowLength + (ended ? 0 : 1);
  }

  @Override
  public boolean isFinal() {
    return true;
  }

  @Override
  public int read(ByteBuffer into, long position) throws IOException {
    if (position < windowStart) {
      throw new IOException(path + " cannot be read backwards");
    }
    if (limit < 0) {
      limit = position + MOST_BYTES;
    }
    int passed = (int) Math.min(position - windowStart, windowLength);
    System.arraycopy(window, passed, window, 0, windowLength - passed);
    windowStart += passed;
    windowLength -= passed;
    try {
      skipTo(position);
      if (windowStart == position) {
        fill(Math.min(window.length, into.remaining()));
      }
    } catch (IOException e) {
      end(e.toString());
    }
    if (windowStart < position) {
      return ended ? -1 : 0;
    }
    into.put(window, 0, Math.min(windowLength, into.remaining()));
    return windowLength == 0 && ended ? -1 : windowLength;
  }

  private void skipTo(long position) throws IOException {
    long left = Math.min(position - windowStart, MOST_SKIPPED_BYTES);
    while (left > 0 && !ended) {
      long skipped = in.skip(left);
      if (skipped == 0) {
        ended = true;
      }
      windowStart += skipped;
      left -= skipped;
    }
  }

  private void fill(int bytes) throws IOException {
    while (windowLength < bytes && !ended) {
      int read = in.read(window, windowLength, bytes - windowLength);
      if (read < 0) {
        ended = true;
      } else {
        windowLength += read;
        if (windowStart + windowLength > limit) {
          end("it is longer than any trace log");
        }
      }
    }
  }

  private void end(String problem) {
    ended = true;
    log.warn("Stopped reading {} at byte {}: {}", path, size(), problem);
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
