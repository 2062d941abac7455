package org.traceetl.agent.access;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.security.MessageDigest;
import java.util.List;

/** The bearer tokens in force. Safe for any thread; one thread at a time may reload them. */
public final class BearerTokens {
  /** The answer to a request without a valid token. */
  public static final String REFUSED =
      "a valid bearer token is required (Authorization: Bearer ...)";

  private static final String SCHEME = "Bearer ";

  private final TokenSource source;
  private volatile List<String> inForce;

  /**
   * Reads the tokens of the source.
   *
   * @throws IOException if they cannot be read
   */
  public BearerTokens(TokenSource source) throws IOException {
    this.source = source;
    this.inForce = read();
  }

  /**
   * Returns whether the value of an {@code Authorization} header, or null, has a valid token. The
   * time it takes reveals nothing about the tokens.
   */
  public boolean admit(String authorization) {
    List<String> admitted = inForce;
    if (admitted.isEmpty()) {
      return true;
    }
    if (authorization == null
        || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return false;
    }
    byte[] shown = authorization.substring(SCHEME.length()).strip().getBytes(ISO_8859_1);
    boolean known = false;
    for (String token : admitted) {
      known |= MessageDigest.isEqual(shown, token.getBytes(ISO_8859_1));
    }
    return known;
  }

  /**
   * Reloads the tokens.
   *
   * @return true if they have changed
   * @throws IOException if they cannot be read; the previous ones stay in force
   */
  public boolean reload() throws IOException {
    List<String> now = read();
    if (now.equals(inForce)) {
      return false;
    }
    inForce = now;
    return true;
  }

  private List<String> read() throws IOException {
    try {
      return source.read();
    } catch (IOException e) {
      throw source.file().isEmpty()
          ? e
          : new IOException(source.file().get() + ": " + e.getMessage(), e);
    }
  }
}
