package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A disk below the page cache of a directory. A force that fails marks the pages clean, as Linux
 * does: the next force of the file succeeds, and writes only pages that were written to since. What
 * no force brought to it is lost with the power.
 */
final class FailingDisk implements FrameFile.Force {
  private static final int PAGE_BYTES = 4_096;

  private static final class File {
    FileChannel channel;
    byte[] clean = new byte[0];
    byte[] onDisk = new byte[0];
  }

  private final Path directory;
  private final Map<Object, File> files = new HashMap<>();
  private BooleanSupplier fails = () -> false;
  private int failures;
  private int successes;

  private FailingDisk(Path directory) {
    this.directory = directory;
  }

  /** A disk that has what is in the directory now. */
  static FailingDisk withAllOf(Path directory) throws IOException {
    FailingDisk disk = new FailingDisk(directory);
    for (Path path : disk.list()) {
      File file = new File();
      file.clean = Files.readAllBytes(path);
      file.onDisk = file.clean;
      disk.files.put(inode(path), file);
    }
    return disk;
  }

  /** A disk that has nothing of what is in the directory: it is in the page cache only. */
  static FailingDisk withNothingOf(Path directory) {
    return new FailingDisk(directory);
  }

  /** Asked at each force. */
  synchronized void failsIf(BooleanSupplier condition) {
    fails = condition;
  }

  /** Lets so many forces fail, and then none. */
  synchronized void failNext(int forces) {
    int end = failures + forces;
    fails = () -> failures < end;
  }

  synchronized int failures() {
    return failures;
  }

  synchronized int successes() {
    return successes;
  }

  @Override
  public synchronized void force(Path path, FileChannel channel) throws IOException {
    File file = file(path, channel);
    byte[] now = read(channel);
    if (fails.getAsBoolean()) {
      failures++;
      file.clean = now;
      throw new IOException("Input/output error");
    }
    successes++;
    byte[] written = Arrays.copyOf(file.onDisk, now.length);
    for (int from = 0; from < now.length; from += PAGE_BYTES) {
      int to = Math.min(from + PAGE_BYTES, now.length);
      int cleanTo = Math.min(to, file.clean.length);
      boolean isClean = cleanTo >= from && Arrays.equals(now, from, to, file.clean, from, cleanTo);
      if (!isClean) {
        System.arraycopy(now, from, written, from, to - from);
      }
    }
    file.clean = now;
    file.onDisk = written;
  }

  private File file(Path path, FileChannel channel) throws IOException {
    File file = files.computeIfAbsent(inode(path), inode -> new File());
    if (file.channel != null && file.channel != channel) {
      // Another file, with the number of one that was deleted.
      file = new File();
      files.put(inode(path), file);
    }
    file.channel = channel;
    return file;
  }

  private static byte[] read(FileChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) channel.size());
    while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
      // Until all is read.
    }
    return bytes.array();
  }

  /** What a host that lost its power finds: the content of each file. */
  synchronized Map<Path, byte[]> afterPowerLoss() throws IOException {
    Map<Path, byte[]> found = new HashMap<>();
    for (Path path : list()) {
      File file = files.get(inode(path));
      found.put(path, file == null ? new byte[0] : file.onDisk);
    }
    return found;
  }

  private List<Path> list() throws IOException {
    try (Stream<Path> paths = Files.list(directory)) {
      return paths.sorted().toList();
    }
  }

  private static Object inode(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }
}
