package org.traceetl.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A password or key. Its string form is asterisks, so that it does not enter logs or messages by
 * accident.
 *
 * @param value the secret itself
 */
public record Secret(String value) {
  /**
   * Reads a secret from a file, without surrounding white space.
   *
   * @throws IOException if the file cannot be read or is empty; the message contains its name
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
