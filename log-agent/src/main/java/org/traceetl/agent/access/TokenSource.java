package org.traceetl.agent.access;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The bearer tokens that a port admits. Several are allowed, so that a new one can be added before
 * the old one is removed.
 *
 * @param value token that clients send as {@code Authorization: Bearer}; others get 401 or {@code
 *     UNAUTHENTICATED}; {@code /health} needs none. None admits every client; a variable that is
 *     set and empty is refused
 * @param file file of up to 16 tokens, one per line, in place of the key before; each is valid.
 *     Reloaded
 */
public record TokenSource(String value, Optional<Path> file) {
  /** Limit of tokens, because each is compared with each request's token. */
  private static final int MAX_TOKENS = 16;

  private static final int MAX_FILE_BYTES = 64 * 1024;

  /** The syntax of RFC 6750. */
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

  /** Returns a source without tokens: every client is admitted. */
  public static TokenSource none() {
    return new TokenSource("", Optional.empty());
  }

  /** Returns true if every client is admitted. */
  public boolean isNone() {
    return value.isEmpty() && file.isEmpty();
  }

  /**
   * Reads the tokens; if there are none, every client is admitted.
   *
   * @throws IOException if the file has no token or an invalid one; the message reveals no content
   */
  public List<String> read() throws IOException {
    if (file.isEmpty()) {
      return value.isEmpty() ? List.of() : List.of(checked("it", value));
    }
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file.get())) {
      bytes = in.readNBytes(MAX_FILE_BYTES + 1);
    } catch (IOException e) {
      throw new IOException("cannot be read: " + e, e);
    }
    List<String> tokens =
        new String(bytes, StandardCharsets.ISO_8859_1)
            .lines()
            .map(String::strip)
            .filter(line -> !line.isEmpty())
            .toList();
    if (bytes.length > MAX_FILE_BYTES || tokens.isEmpty() || tokens.size() > MAX_TOKENS) {
      throw new IOException("must contain 1 to " + MAX_TOKENS + " tokens, one per line");
    }
    for (int i = 0; i < tokens.size(); i++) {
      checked("token " + (i + 1), tokens.get(i));
    }
    return tokens;
  }

  private static String checked(String which, String token) throws IOException {
    if (!TOKEN.matcher(token).matches()) {
      throw new IOException(
          which
              + " must consist of letters, digits and ._~+/-, with = only at its end: make one with"
              + " openssl rand -base64 32");
    }
    return token;
  }

  @Override
  public String toString() {
    return "TokenSource[file=" + file + "]";
  }
}
