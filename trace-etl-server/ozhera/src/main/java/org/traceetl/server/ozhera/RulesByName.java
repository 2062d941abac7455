package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.traceetl.server.decode.Texts;

/**
 * The rules of the applications that were heard of last, by the bytes of their names: {@value
 * #SLOTS} at most, a new one takes an older one's place. One owner thread.
 */
final class RulesByName {
  private static final int SLOTS = 1 << 12;

  /** Where a name may stand, from its first place on. */
  private static final int WAYS = 4;

  /** Longer names are told apart by so much of them: what is kept is bounded. */
  private static final int MAX_NAME_BYTES = 1 << 10;

  private final int seed = ThreadLocalRandom.current().nextInt();
  private final byte[][] names = new byte[SLOTS][];
  private final ApplicationRules[] rules = new ApplicationRules[SLOTS];
  private OzheraRules all;
  private int turn;

  /**
   * The rules of an application.
   *
   * @param now what is in force
   */
  ApplicationRules of(OzheraRules now, Texts texts, int application) {
    if (all != now) {
      Arrays.fill(names, null);
      Arrays.fill(rules, null);
      all = now;
    }
    byte[] buffer = texts.buffer(application);
    int offset = texts.offset(application);
    int length = Math.min(texts.length(application), MAX_NAME_BYTES);
    int first = hash(buffer, offset, length) & SLOTS - WAYS;
    int free = first + (turn++ & WAYS - 1);
    for (int slot = first; slot < first + WAYS; slot++) {
      byte[] name = names[slot];
      if (name == null) {
        free = slot;
        break;
      }
      if (Arrays.equals(name, 0, name.length, buffer, offset, offset + length)) {
        return rules[slot];
      }
    }
    names[free] = Arrays.copyOfRange(buffer, offset, offset + length);
    rules[free] = now.of(new String(buffer, offset, length, UTF_8));
    return rules[free];
  }

  private int hash(byte[] buffer, int offset, int length) {
    int hash = seed;
    for (int i = offset; i < offset + length; i++) {
      hash = (hash ^ buffer[i]) * 0x0100_0193;
    }
    return hash ^ hash >>> 15;
  }
}
