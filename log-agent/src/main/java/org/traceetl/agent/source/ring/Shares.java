package org.traceetl.agent.source.ring;

import java.util.HashMap;
import java.util.Map;
import org.traceetl.agent.config.RingConfig;

/**
 * The resources that rings use, in total and by user, so that no user takes the share of others. A
 * user may have three quarters of the rings and of their files' bytes, and half of the strings on
 * the heap. One ring's strings may take a quarter.
 */
final class Shares {
  private static final class Share {
    int rings;
    long fileBytes;
    long stringBytes;
  }

  private final RingConfig config;
  private final Share all = new Share();
  private final Map<Integer, Share> byUser = new HashMap<>();

  Shares(RingConfig config) {
    this.config = config;
  }

  /** Returns whether another ring may be opened. */
  boolean hasRoom(int user, long fileBytes) {
    Share own = of(user);
    return own.rings < Math.ceilDiv(3 * config.maxRings(), 4)
        && all.fileBytes + fileBytes <= config.maxBytes()
        && own.fileBytes + fileBytes <= Math.ceilDiv(3 * config.maxBytes(), 4);
  }

  /** Returns whether a ring's strings may take this many bytes. */
  boolean hasRoomForStrings(Ring ring, long bytes) {
    long more = bytes - ring.chargedBytes;
    return all.stringBytes + more <= config.maxDictionaryBytes()
        && of(ring.user()).stringBytes + more <= config.maxDictionaryBytes() / 2;
  }

  /** Returns the limit of one ring's strings, bytes. */
  long mostStringBytes() {
    return config.maxDictionaryBytes() / 4;
  }

  private Share of(int user) {
    return byUser.getOrDefault(user, new Share());
  }

  void add(Ring ring) {
    count(ring, 1, ring.header.fileBytes(), 0);
    charge(ring);
  }

  /** Updates the bytes of a ring's strings. */
  void charge(Ring ring) {
    long held = ring.dictionary.heldBytes() + ring.header.resourceBytes();
    count(ring, 0, 0, held - ring.chargedBytes);
    ring.chargedBytes = held;
  }

  void remove(Ring ring) {
    count(ring, -1, -ring.header.fileBytes(), -ring.chargedBytes);
    byUser.values().removeIf(share -> share.rings == 0);
  }

  private void count(Ring ring, int rings, long fileBytes, long stringBytes) {
    add(all, rings, fileBytes, stringBytes);
    add(byUser.computeIfAbsent(ring.user(), _ -> new Share()), rings, fileBytes, stringBytes);
  }

  private static void add(Share share, int rings, long fileBytes, long stringBytes) {
    share.rings += rings;
    share.fileBytes += fileBytes;
    share.stringBytes += stringBytes;
  }
}
