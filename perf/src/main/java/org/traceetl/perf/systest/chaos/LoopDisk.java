package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A disk of its own for one program: an ext4 file system in a file. It can write slowly what that
 * program writes, by a control group, and it can lose what was not forced, as a host that loses
 * power does.
 */
final class LoopDisk implements AutoCloseable {
  // So that a frame, or a flush of the broker, takes longer than its senders wait.
  private static final int SLOW_BYTES_PER_SECOND = 1024;
  private static final Path GROUPS = Path.of("/sys/fs/cgroup");

  private static final String PREFIX = "trace-etl-chaos-";

  /** Names of control groups: with the process that made them. */
  private static final Pattern MADE = Pattern.compile(PREFIX + "(\\d+)-.*");

  /** FS_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: nothing reaches the disk after it. */
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
   * Mounts it.
   *
   * @param mountPoint made if missing; the file is beside it
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

  /** Whether the kernel can slow it down for a program. */
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
      return false; // no such control here, or not for us
    }
  }

  /** Writes slowly what this process writes. */
  void slow(long pid) throws IOException {
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
    limit(SLOW_BYTES_PER_SECOND);
  }

  /** Writes as fast as it can. */
  void restore() throws IOException {
    limit(0);
  }

  private void limit(int bytesPerSecond) throws IOException {
    long number = ((Number) Files.getAttribute(mountPoint, "unix:dev")).longValue();
    // As makedev(3) puts them together.
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

  /** Whether what is needed for it is installed. */
  static boolean canLosePower() throws IOException, InterruptedException {
    return SpoolDisk.run("perl", "-MFcntl", "-e", "1");
  }

  /** Loses what was not forced to it, and fails every access from now on. */
  void losePower() throws IOException, InterruptedException {
    if (!SpoolDisk.run("perl", "-e", SHUT_DOWN, mountPoint)) {
      throw new IOException("the file system cannot be shut down: " + mountPoint);
    }
  }

  /** Mounts what is left of it; to be called when its program has ended. */
  void regainPower() throws IOException, InterruptedException {
    if (!SpoolDisk.run("umount", mountPoint) || !mount()) {
      throw new IOException("the file system cannot be mounted again: " + mountPoint);
    }
  }

  /** To be called when its program has ended. */
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
