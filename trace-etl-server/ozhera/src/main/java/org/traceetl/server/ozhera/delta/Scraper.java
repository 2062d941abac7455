package org.traceetl.server.ozhera.delta;

import java.util.ArrayDeque;

/** Someone who is given every window once. Belongs to the fold thread, but for its names. */
final class Scraper {
  /** Different places that it asked from, at most so many. */
  private static final int RECENT = 4;

  private final String identity;
  private final String group;

  /** When it asked last, on the nano clock. */
  long askedNanos;

  /** Where it asked from, the last one first. */
  private final ArrayDeque<String> recent = new ArrayDeque<>(RECENT);

  /** Whether it looks like two. */
  boolean doubted;

  /** When it did last, on the nano clock. */
  long doubtedNanos;

  /** Answers that threads hold, expired ones included. */
  int held;

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

  /** It asks; whether from where it was before it was somewhere else, as two do in turn. */
  boolean returns(String from) {
    boolean same = from.equals(recent.peekFirst());
    boolean known = recent.remove(from);
    if (recent.size() == RECENT) {
      recent.removeLast();
    }
    recent.addFirst(from);
    return known && !same;
  }

  String identity() {
    return identity;
  }

  String group() {
    return group;
  }
}
