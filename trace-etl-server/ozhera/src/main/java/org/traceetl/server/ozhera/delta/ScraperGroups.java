package org.traceetl.server.ozhera.delta;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hashing;

/** Names of the consumer groups under which brokers keep scrapers' places. */
final class ScraperGroups {
  private static final String HASHED = "sha256-";
  private static final int HASH_DIGITS = 32;

  private ScraperGroups() {}

  /**
   * What stands for a scraper in the name of its group: its identity where that is made of what
   * groups may be named of, else a hash of it; never the same for two.
   */
  static String suffix(String identity) {
    boolean plain = identity.matches("[A-Za-z0-9_-]{1,64}") && !identity.startsWith(HASHED);
    return plain
        ? identity
        : HASHED
            + Hashing.sha256().hashString(identity, UTF_8).toString().substring(0, HASH_DIGITS);
  }
}
