package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.traceetl.agent.disk.Disk;

/**
 * The files of a spool's directory: segments {@code 0000000001.seg}, unfinished segments {@code
 * .seg.tmp}, and lists of settled batches {@code 0000000001.settled}. Safe for any thread, except
 * {@link #staging}.
 */
final class SpoolFiles {
  static final String SEGMENT = ".seg";
  private static final String UNFINISHED = ".seg.tmp";
  private static final String SETTLED = ".settled";
  private static final int STAGING_BYTES = 256 * 1024;

  private final Path directory;
  private final Disk disk;
  private final SpoolMetrics metrics;
  // Null until the first append.
  private ByteBuffer staging;

  /**
   * @param metrics counts failed forces
   */
  SpoolFiles(Path directory, Disk disk, SpoolMetrics metrics) {
    this.directory = directory;
    this.disk = disk;
    this.metrics = metrics;
  }

  Path directory() {
    return directory;
  }

  Path segment(long number) {
    return path(number, SEGMENT);
  }

  Path unfinished(long number) {
    return path(number, UNFINISHED);
  }

  Path settled(long number) {
    return path(number, SETTLED);
  }

  private Path path(long number, String suffix) {
    return directory.resolve(String.format("%010d", number) + suffix);
  }

  /** Returns the numbers of the segments in ascending order. */
  List<Long> segments() throws IOException {
    return numbers(SEGMENT);
  }

  /** Returns the numbers of the lists of settled batches in ascending order. */
  List<Long> settledLists() throws IOException {
    return numbers(SETTLED);
  }

  private List<Long> numbers(String suffix) throws IOException {
    return disk.list(directory, suffix).stream()
        .map(path -> path.getFileName().toString())
        .map(name -> name.substring(0, name.length() - suffix.length()))
        .filter(name -> name.matches("\\d{10}"))
        .map(Long::valueOf)
        .sorted()
        .toList();
  }

  void deleteUnfinished() throws IOException {
    for (Path path : disk.list(directory, UNFINISHED)) {
      disk.delete(path);
    }
  }

  /**
   * Returns the memory through which frames are written. Its size is fixed, whatever the size of a
   * frame. Confined to the writing thread.
   */
  ByteBuffer staging() {
    if (staging == null) {
      staging = ByteBuffer.allocateDirect(STAGING_BYTES);
    }
    return staging;
  }

  /** Creates an empty file; replaces an existing one. */
  FrameFile create(Path path) throws IOException {
    return new FrameFile(path, disk.create(path), 0, this);
  }

  /** Opens an existing file; reading begins at its start. */
  FrameFile open(Path path) throws IOException {
    Disk.OpenFile file = disk.open(path);
    try {
      return new FrameFile(path, file, file.size(), this);
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  boolean exists(Path path) {
    return disk.exists(path);
  }

  void move(Path from, Path to) throws IOException {
    disk.move(from, to);
  }

  void delete(Path path) throws IOException {
    disk.delete(path);
  }

  void forceNames() throws IOException {
    disk.forceDirectory(directory);
  }

  void forceFailed() {
    metrics.flushFailures.inc();
  }

  long usableBytes() {
    return disk.usableBytes(directory);
  }
}
