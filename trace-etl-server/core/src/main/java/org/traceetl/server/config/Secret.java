package org.traceetl.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A password or key. Prints as asterisks, so that it enters no log and no message by accident.
 *
 * @param value the secret itself
 */
public record Secret(String value) {
  /**
   * The content of a file without the white space around it, as secrets are mounted.
   *
   * @throws IOException if the file cannot be read or is empty; the message names it
   */
  public static Secret fromFile(Path file) throws IOException {
    String content = Files.readString(file).strip();
    if (content.isEmpty()) {
      throw new IOException(file + ": does not contain a secret");
    }
    return new Secret(content);
  }

  @Override
  public String toString() {
    return "***";
  }
}
