package org.traceetl.agent.state;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.traceetl.agent.disk.Disk;

/** Reserves a directory for one agent, until the lock is closed or the process ends. */
public final class DirectoryLock implements Closeable {
  private final Closeable lock;

  private DirectoryLock(Closeable lock) {
    this.lock = lock;
  }

  /**
   * Takes the lock.
   *
   * @param key configuration key that names the directory, for the message
   * @throws IOException if the directory cannot be written, or another agent has the lock
   */
  public static DirectoryLock take(Path directory, String key, Disk disk) throws IOException {
    return new DirectoryLock(
        disk.lock(directory.resolve("lock"))
            .orElseThrow(() ->
                new IOException(
                    key
                        + " "
                        + directory.toAbsolutePath()
                        + " is used by another running agent: stop that agent, or configure"
                        + " another directory for this one")));
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}
