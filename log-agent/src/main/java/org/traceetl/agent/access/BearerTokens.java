package org.traceetl.agent.access;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.security.MessageDigest;
import java.util.List;

/** The tokens in force. Safe for any thread; one at a time reads them anew. */
public final class BearerTokens {
  /** What is told to who shows none of them. */
  public static final String REFUSED =
      "a bearer token that is known here is needed (Authorization: Bearer ...)";

  private static final String SCHEME = "Bearer ";

  private final TokenSource source;
  private volatile List<String> inForce;

  /**
   * The tokens of the source as they are now.
   *
   * @throws IOException when they cannot be had
   */
  public BearerTokens(TokenSource source) throws IOException {
    this.source = source;
    this.inForce = read();
  }

  /** False when everybody is admitted. */
  public boolean areNeeded() {
    return !inForce.isEmpty();
  }

  /**
   * Whether the value of an {@code Authorization} header, or null, shows one of them. The time that
   * it takes tells nothing about them.
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
   * Takes the tokens as the source has them now.
   *
   * @return true if they are others
   * @throws IOException when they cannot be had; those in force stay
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
