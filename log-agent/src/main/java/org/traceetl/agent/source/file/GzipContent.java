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
 * A compressed trace log, decompressed from its start on into a window that only moves forward. One
 * that is damaged ends where it cannot be read further.
 */
final class GzipContent implements FileContent {
  private static final Logger log = LoggerFactory.getLogger(GzipContent.class);

  /** Passed over in one call at most, so that the thread has its other turns. */
  private static final long MOST_SKIPPED_BYTES = 64L << 20;

  /** Decompressed behind the first position asked for at most: what is more is no trace log. */
  static final long MOST_BYTES = 4L << 30;

  private final Path path;
  private final InputStream in;
  private final byte[] window;
  private long windowStart;
  private int windowLength;
  private long limit = -1;
  private boolean ended;

  /**
   * @param windowBytes most bytes that are read at once
   */
  GzipContent(Path path, int windowBytes) throws IOException {
    this.path = path;
    this.in = open(path);
    this.window = new byte[windowBytes];
  }

  /** The first bytes, decompressed; fewer if there are no more. */
  static byte[] head(Path path, int bytes) throws IOException {
    try (InputStream in = open(path)) {
      return in.readNBytes(bytes);
    }
  }

  /** The first bytes; fewer if there are no more. To be asked for before all others. */
  byte[] head(int bytes) throws IOException {
    windowLength = in.readNBytes(window, 0, bytes);
    return Arrays.copyOf(window, windowLength);
  }

  /** The lower 32 bits of its decompressed length, as it says itself at its end. */
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
