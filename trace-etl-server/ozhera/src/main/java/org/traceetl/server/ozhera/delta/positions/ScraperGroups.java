package org.traceetl.server.ozhera.delta.positions;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hashing;

/** The consumer groups under which brokers store scrapers' positions. */
public final class ScraperGroups {
  private static final String HASHED = "sha256-";
  private static final int HASH_DIGITS = 32;

  private ScraperGroups() {}

  /**
   * Returns the suffix of a scraper's group: its identity if the characters are allowed in a group
   * name, otherwise its hash; unique for each identity.
   */
  public static String suffix(String identity) {
    boolean plain = identity.matches("[A-Za-z0-9_-]{1,64}") && !identity.startsWith(HASHED);
    return plain
        ? identity
        : HASHED
            + Hashing.sha256().hashString(identity, UTF_8).toString().substring(0, HASH_DIGITS);
  }
}
