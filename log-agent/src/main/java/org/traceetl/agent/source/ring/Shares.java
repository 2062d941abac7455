package org.traceetl.agent.source.ring;

import java.util.HashMap;
import java.util.Map;
import org.traceetl.agent.config.RingConfig;

/**
 * What rings take of what they may, in all and by user: nobody is to take the room of the others.
 * Of rings and of their files' bytes a user may have three quarters, of the strings on the heap
 * half; one ring's strings may take a quarter.
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

  /** Whether one more ring may be read. */
  boolean hasRoom(int user, long fileBytes) {
    Share own = of(user);
    return own.rings < Math.ceilDiv(3 * config.maxRings(), 4)
        && all.fileBytes + fileBytes <= config.maxBytes()
        && own.fileBytes + fileBytes <= Math.ceilDiv(3 * config.maxBytes(), 4);
  }

  /** Whether a ring's strings may take so much. */
  boolean hasRoomForStrings(Ring ring, long bytes) {
    long more = bytes - ring.chargedBytes;
    return all.stringBytes + more <= config.maxDictionaryBytes()
        && of(ring.user()).stringBytes + more <= config.maxDictionaryBytes() / 2;
  }

  /** That one ring's strings may take. */
  long mostStringBytes() {
    return config.maxDictionaryBytes() / 4;
  }

  private Share of(int user) {
    return byUser.getOrDefault(user, new Share());
  }

  /** A ring is read from here on. */
  void add(Ring ring) {
    count(ring, 1, ring.header.fileBytes(), 0);
    charge(ring);
  }

  /** Counts what its strings take by now. */
  void charge(Ring ring) {
    long held = ring.dictionary.heldBytes() + ring.header.resourceBytes();
    count(ring, 0, 0, held - ring.chargedBytes);
    ring.chargedBytes = held;
  }

  /** A ring is not read any more. */
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
