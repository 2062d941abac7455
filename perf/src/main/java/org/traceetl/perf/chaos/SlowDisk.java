package org.traceetl.perf.chaos;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A disk of its own for an agent's spool, a file system in a file, which the kernel can be had to
 * write slowly for one process: by the control group that limits what its members write.
 */
final class SlowDisk implements AutoCloseable {
  // So that a frame takes longer than its senders wait.
  private static final int SLOW_BYTES_PER_SECOND = 1024;
  private static final Path GROUPS = Path.of("/sys/fs/cgroup");

  private final Path mountPoint;
  private final Path group;
  private final Path limit;
  private final String slow;
  private final String free;

  private SlowDisk(Path mountPoint, Path group, Path limit, String slow, String free) {
    this.mountPoint = mountPoint;
    this.group = group;
    this.limit = limit;
    this.slow = slow;
    this.free = free;
  }

  /**
   * Mounts it.
   *
   * @param mountPoint made if missing; the file is beside it
   * @return null if this user may not mount, or the kernel cannot slow it down
   */
  static SlowDisk mount(Path mountPoint, int mebibytes) throws IOException, InterruptedException {
    Files.createDirectories(mountPoint);
    if (!"root".equals(System.getProperty("user.name"))) {
      return null;
    }
    Path image = mountPoint.resolveSibling(mountPoint.getFileName() + ".img");
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength((long) mebibytes << 20);
    }
    if (!SpoolDisk.run("mkfs.ext4", "-q", "-m", "0", image)
        || !SpoolDisk.run("mount", "-o", "loop", image, mountPoint)) {
      return null;
    }
    SlowDisk disk;
    try {
      disk = limited(mountPoint);
      disk.restore();
    } catch (IOException e) {
      SpoolDisk.run("umount", "-l", mountPoint);
      return null; // no such control here, or not for us
    }
    return disk;
  }

  private static SlowDisk limited(Path mountPoint) throws IOException {
    long number = ((Number) Files.getAttribute(mountPoint, "unix:dev")).longValue();
    // As makedev(3) puts them together.
    String device = (number >>> 8 & 0xfff) + ":" + (number & 0xff | number >>> 12 & 0xfff00);
    String name = "trace-etl-chaos-" + ProcessHandle.current().pid();
    if (Files.exists(GROUPS.resolve("cgroup.controllers"))) {
      Files.writeString(GROUPS.resolve("cgroup.subtree_control"), "+io");
      Path group = Files.createDirectory(GROUPS.resolve(name));
      return new SlowDisk(
          mountPoint,
          group,
          group.resolve("io.max"),
          device + " wbps=" + SLOW_BYTES_PER_SECOND,
          device + " wbps=max");
    }
    Path group = Files.createDirectory(GROUPS.resolve("blkio").resolve(name));
    return new SlowDisk(
        mountPoint,
        group,
        group.resolve("blkio.throttle.write_bps_device"),
        device + " " + SLOW_BYTES_PER_SECOND,
        device + " 0");
  }

  /** Writes slowly what this process writes. */
  void slow(long pid) throws IOException {
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
    Files.writeString(limit, slow);
  }

  /** As fast as it can. */
  void restore() throws IOException {
    Files.writeString(limit, free);
  }

  /** To be called when the process has ended. */
  @Override
  public void close() throws IOException {
    try {
      restore();
      Files.delete(group);
      SpoolDisk.run("umount", "-l", mountPoint);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
