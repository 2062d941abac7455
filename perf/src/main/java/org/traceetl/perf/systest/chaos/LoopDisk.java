package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A disk of one program: an ext4 file system in a file. It can delay the program's writes, by a
 * control group. It can lose what was not forced, as a host that loses power does.
 */
final class LoopDisk implements AutoCloseable {
  // So slow that a frame, or a broker's flush, exceeds its sender's timeout.
  private static final int SLOW_BYTES_PER_SECOND = 1024;
  private static final Path GROUPS = Path.of("/sys/fs/cgroup");

  private static final String PREFIX = "trace-etl-chaos-";

  /** Names of control groups contain the process that created them. */
  private static final Pattern MADE = Pattern.compile(PREFIX + "(\\d+)-.*");

  /** FS_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: nothing reaches the disk afterwards. */
  private static final String SHUT_DOWN =
      "use Fcntl; my $flags = pack('L', 2); sysopen(D, $ARGV[0], O_RDONLY) or die;"
          + " ioctl(D, 0x8004587d, $flags) or die";

  private final Path mountPoint;
  private final Path image;
  private final Path group;

  private LoopDisk(Path mountPoint, Path image) {
    this.mountPoint = mountPoint;
    this.image = image;
    group = groups().resolve(PREFIX + ProcessHandle.current().pid() + "-" + image.getFileName());
  }

  /**
   * Mounts a disk.
   *
   * @param mountPoint created if missing; the file is next to it
   * @return null if this user may not mount
   */
  static LoopDisk mount(Path mountPoint, int mebibytes) throws IOException, InterruptedException {
    deleteStale();
    Files.createDirectories(mountPoint);
    if (!"root".equals(System.getProperty("user.name"))) {
      return null;
    }
    Path image = mountPoint.resolveSibling(mountPoint.getFileName() + ".img");
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength((long) mebibytes << 20);
    }
    LoopDisk disk = new LoopDisk(mountPoint, image);
    return SpoolDisk.run("mkfs.ext4", "-q", "-m", "0", image) && disk.mount() ? disk : null;
  }

  /** Deletes the control groups of processes that were killed. */
  private static void deleteStale() throws IOException {
    Path groups = groups();
    if (!Files.isDirectory(groups)) {
      return;
    }
    try (DirectoryStream<Path> stale =
        Files.newDirectoryStream(
            groups,
            group -> {
              Matcher made = MADE.matcher(group.getFileName().toString());
              return made.matches() && ProcessHandle.of(Long.parseLong(made.group(1))).isEmpty();
            })) {
      for (Path group : stale) {
        Files.delete(group);
      }
    }
  }

  private static Path groups() {
    return isUnified() ? GROUPS : GROUPS.resolve("blkio");
  }

  private boolean mount() throws IOException, InterruptedException {
    return SpoolDisk.run("mount", "-o", "loop", image, mountPoint);
  }

  private static boolean isUnified() {
    return Files.exists(GROUPS.resolve("cgroup.controllers"));
  }

  /** Returns whether the kernel can limit the write rate of a program. */
  boolean canBeSlow() {
    try {
      if (isUnified()) {
        Files.writeString(GROUPS.resolve("cgroup.subtree_control"), "+io");
      }
      if (!Files.exists(group)) {
        Files.createDirectory(group);
      }
      restore();
      return true;
    } catch (IOException e) {
      return false; // the control is missing or this user may not write it
    }
  }

  void slow(long pid) throws IOException {
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
    limit(SLOW_BYTES_PER_SECOND);
  }

  void restore() throws IOException {
    limit(0);
  }

  private void limit(int bytesPerSecond) throws IOException {
    long number = ((Number) Files.getAttribute(mountPoint, "unix:dev")).longValue();
    // Decodes the number as makedev(3) encodes it.
    String device =
        ((number >>> 8) & 0xfff) + ":" + ((number & 0xff) | ((number >>> 12) & 0xfff00));
    if (isUnified()) {
      String most = bytesPerSecond == 0 ? "max" : Integer.toString(bytesPerSecond);
      Files.writeString(group.resolve("io.max"), device + " wbps=" + most);
    } else {
      Files.writeString(
          group.resolve("blkio.throttle.write_bps_device"), device + " " + bytesPerSecond);
    }
  }

  /** Returns whether perl, which power losses require, is installed. */
  static boolean canLosePower() throws IOException, InterruptedException {
    return SpoolDisk.run("perl", "-MFcntl", "-e", "1");
  }

  /** Loses what was not forced to the disk; every later access fails. */
  void losePower() throws IOException, InterruptedException {
    if (!SpoolDisk.run("perl", "-e", SHUT_DOWN, mountPoint)) {
      throw new IOException("the file system cannot be shut down: " + mountPoint);
    }
  }

  /** Mounts the remaining data; call it after the program has ended. */
  void regainPower() throws IOException, InterruptedException {
    if (!SpoolDisk.run("umount", mountPoint) || !mount()) {
      throw new IOException("the file system cannot be mounted again: " + mountPoint);
    }
  }

  /** Unmounts the disk; call it after the program has ended. */
  @Override
  public void close() throws IOException {
    try {
      if (Files.exists(group)) {
        restore();
        Files.delete(group);
      }
    } finally {
      try {
        SpoolDisk.run("umount", "-l", mountPoint);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
