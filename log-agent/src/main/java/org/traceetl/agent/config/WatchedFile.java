package org.traceetl.agent.config;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A file of rules that is read anew while the agent runs.
 *
 * @param path path of the file of rules, which may lead over symbolic links; none: no rules.
 *     Reloaded
 * @param pollMillis how often the file is checked; 10 to 600000. A change applies when two
 *     consecutive checks see it
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
