package org.traceetl.server.canary;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The token of requests. Its file is read for each request, so that it may change.
 *
 * @param file its first line is the token; null for none
 */
record BearerToken(Path file) {
  /** Returns the header {@code Authorization}; null without a token. */
  String header() throws IOException {
    if (file == null) {
      return null;
    }
    try {
      return "Bearer " + Files.readString(file).strip().lines().findFirst().orElse("");
    } catch (IOException e) {
      throw new IOException("cannot read the token file " + file, e);
    }
  }
}
