package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A disk below the page cache of a directory. A failed force marks the pages clean, as Linux does:
 * the file's next force succeeds, and writes only pages written since. A power loss loses what no
 * force has written.
 */
final class FailingDisk extends ForcedDisk {
  private static final int PAGE_BYTES = 4_096;

  private static final class File {
    byte[] clean = new byte[0];
    byte[] onDisk = new byte[0];
  }

  private final Path directory;
  private final Map<Path, File> files = new ConcurrentHashMap<>();
  private BooleanSupplier fails = () -> false;
  private int failures;
  private int successes;

  private FailingDisk(Path directory) {
    super(OpenFile::force);
    this.directory = directory;
  }

  /** Returns a disk with the directory's current content. */
  static FailingDisk withAllOf(Path directory) throws IOException {
    FailingDisk disk = new FailingDisk(directory);
    for (Path path : disk.list()) {
      File file = new File();
      file.clean = Files.readAllBytes(path);
      file.onDisk = file.clean;
      disk.files.put(path, file);
    }
    return disk;
  }

  /** Returns a disk without the directory's content, which is in the page cache only. */
  static FailingDisk withNothingOf(Path directory) {
    return new FailingDisk(directory);
  }

  /** Sets a condition that is checked at each force. */
  synchronized void failsIf(BooleanSupplier condition) {
    fails = condition;
  }

  /** Makes a number of forces fail, and later ones succeed. */
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
  public OpenFile create(Path path) throws IOException {
    files.remove(path);
    return forced(path, SYSTEM.create(path));
  }

  @Override
  public OpenFile open(Path path) throws IOException {
    return forced(path, SYSTEM.open(path));
  }

  private OpenFile forced(Path path, OpenFile opened) {
    File state = files.computeIfAbsent(path, created -> new File());
    return new ForcedFile(opened, file -> force(state, file));
  }

  @Override
  public void move(Path from, Path to) throws IOException {
    SYSTEM.move(from, to);
    files.put(to, files.remove(from));
  }

  private synchronized void force(File file, OpenFile opened) throws IOException {
    byte[] now = read(opened);
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

  private static byte[] read(OpenFile file) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) file.size());
    while (bytes.hasRemaining() && file.read(bytes, bytes.position()) >= 0) {
      // Continue until all is read.
    }
    return bytes.array();
  }

  /** Returns the content of each file after a power loss. */
  synchronized Map<Path, byte[]> afterPowerLoss() throws IOException {
    Map<Path, byte[]> found = new HashMap<>();
    for (Path path : list()) {
      File file = files.get(path);
      found.put(path, file == null ? new byte[0] : file.onDisk);
    }
    return found;
  }

  private List<Path> list() throws IOException {
    try (Stream<Path> paths = Files.list(directory)) {
      return paths.sorted().toList();
    }
  }
}
