package org.traceetl.server.delta;

/** Someone who is given every window once. Belongs to the fold thread, but for its names. */
final class Scraper {
  private final String identity;
  private final String group;

  /** When it asked last, on the nano clock. */
  long askedNanos;

  /** Which connection it asked on last. */
  int connection;

  /** Whether it was said that it looks like two. */
  boolean doubted;

  /** Taken and not settled; null for none. */
  Answer answer;

  /** Waits until its places are known; null for none. */
  DeltaPages.Take waiting;

  long missedMessages;

  /**
   * @param group under which the brokers keep its places
   */
  Scraper(String identity, String group) {
    this.identity = identity;
    this.group = group;
  }

  String identity() {
    return identity;
  }

  String group() {
    return group;
  }
}
