package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.traceetl.server.decode.Texts;

/**
 * The rules of recent applications by the bytes of their names: at most {@value #SLOTS}, a new one
 * replaces an older one. Not thread-safe.
 */
final class RulesByName {
  private static final int SLOTS = 1 << 12;

  /** Number of slots in which a name may be, from its first slot on. */
  private static final int WAYS = 4;

  /** Longer names are distinguished by this many bytes, so that memory is bounded. */
  private static final int MAX_NAME_BYTES = 1 << 10;

  private final int seed = ThreadLocalRandom.current().nextInt();
  private final byte[][] names = new byte[SLOTS][];
  private final ApplicationRules[] rules = new ApplicationRules[SLOTS];
  private OzheraRules all;
  private int turn;

  /**
   * Returns the rules of an application.
   *
   * @param now rules in force
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
