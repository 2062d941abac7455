package org.traceetl.agent.config;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A file of rules that is read anew while the agent runs.
 *
 * @param path where it is; may lead over symbolic links that change
 * @param pollMillis how often it is looked at
 */
public record WatchedFile(Path path, int pollMillis) {
  /**
   * The file as it is now.
   *
   * @throws IOException when it cannot be read, or is longer than 1 MiB
   */
  public byte[] content() throws IOException {
    return YamlReading.content(path);
  }
}
