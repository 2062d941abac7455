package org.traceetl.common;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
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
   * @throws IOException if the file cannot be read or is empty
   */
  public static Secret fromFile(Path file) throws IOException {
    String content = Files.readString(file).strip();
    if (content.isEmpty()) {
      throw new IOException("the file is empty");
    }
    return new Secret(content);
  }

  /**
   * A secret that is a value or the content of a file; null if it is neither.
   *
   * @param key of the value; that of the file has {@code -file} appended
   * @throws ConfigException if both are given, or the file cannot be read or is empty
   */
  public static Secret of(String key, String value, Path file) {
    if (file == null) {
      return value == null ? null : new Secret(value);
    }
    ConfigException.check(
        value == null, key + "-file", file, "must be absent if " + key + " is configured");
    try {
      return fromFile(file);
    } catch (NoSuchFileException e) {
      throw new ConfigException(key + "-file", file, "cannot be read: it does not exist");
    } catch (AccessDeniedException e) {
      throw new ConfigException(key + "-file", file, "cannot be read: access is denied");
    } catch (IOException e) {
      throw new ConfigException(
          key + "-file",
          file,
          "must be a file that contains the value of " + key + " (" + Reason.of(e) + ")");
    }
  }

  @Override
  public String toString() {
    return value.isEmpty() ? "" : "***";
  }
}
