package org.traceetl.agent.config;

import java.io.IOException;
import java.nio.file.Path;
import org.traceetl.agent.disk.Disk;

/**
 * A file of rules that is reloaded.
 *
 * @param path path of the file of rules, which may lead over symbolic links; none: no rules.
 *     Reloaded
 * @param pollMillis how often the file is checked; 10 to 600000. A change applies when two
 *     consecutive checks see it
 */
public record WatchedFile(Path path, int pollMillis) {
  /** Longest file, bytes. */
  static final int MAX_BYTES = 1024 * 1024;

  /**
   * Reads the file.
   *
   * @throws IOException if it cannot be read, or is longer than {@value #MAX_BYTES} bytes
   */
  public byte[] content(Disk disk) throws IOException {
    byte[] content = disk.read(path, MAX_BYTES + 1);
    if (content.length > MAX_BYTES) {
      throw new IOException("longer than " + MAX_BYTES + " bytes");
    }
    return content;
  }
}
