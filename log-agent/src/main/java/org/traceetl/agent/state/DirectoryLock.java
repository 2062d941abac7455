package org.traceetl.agent.state;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Reserves a directory for one agent, until the lock is closed or the process ends. */
public final class DirectoryLock implements Closeable {
  private final FileChannel file;

  private DirectoryLock(FileChannel file) {
    this.file = file;
  }

  /**
   * Takes the lock.
   *
   * @param key configuration key that names the directory, for the message
   * @throws IOException if the directory cannot be written, or another agent has the lock
   */
  public static DirectoryLock take(Path directory, String key) throws IOException {
    FileChannel file =
        FileChannel.open(
            directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (!lock(file)) {
      file.close();
      throw new IOException(
          key
              + " "
              + directory.toAbsolutePath()
              + " is used by another running agent: stop that agent, or configure another"
              + " directory for this one");
    }
    return new DirectoryLock(file);
  }

  private static boolean lock(FileChannel file) throws IOException {
    try {
      FileLock lock = file.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
