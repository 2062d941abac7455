package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A small disk in memory for an agent's spool, which can be filled. */
final class SpoolDisk implements AutoCloseable {
  private final Path mountPoint;
  private final Path filler;

  private SpoolDisk(Path mountPoint) {
    this.mountPoint = mountPoint;
    this.filler = mountPoint.resolve("filler");
  }

  /**
   * Mounts a disk.
   *
   * @param mountPoint created if missing
   * @return null if this user may not mount
   */
  static SpoolDisk mount(Path mountPoint, int mebibytes) throws IOException, InterruptedException {
    Files.createDirectories(mountPoint);
    boolean mounted =
        "root".equals(System.getProperty("user.name"))
            && run("mount", "-t", "tmpfs", "-o", "size=" + mebibytes + "m", "tmpfs", mountPoint);
    return mounted ? new SpoolDisk(mountPoint) : null;
  }

  void fill() throws IOException {
    byte[] block = new byte[4_096];
    try (OutputStream out = Files.newOutputStream(filler)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException e) {
      if (Files.getFileStore(mountPoint).getUsableSpace() >= block.length) {
        throw e;
      }
    }
  }

  void free() throws IOException {
    Files.delete(filler);
  }

  /** Returns whether the program is installed and succeeds. */
  static boolean run(Object... command) throws IOException, InterruptedException {
    String[] words = new String[command.length];
    for (int i = 0; i < words.length; i++) {
      words[i] = command[i].toString();
    }
    try {
      Process process =
          new ProcessBuilder(words)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false; // the program is not installed
    }
  }

  @Override
  public void close() throws IOException {
    try {
      run("umount", "-l", mountPoint);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
