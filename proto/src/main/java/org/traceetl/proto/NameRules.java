package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/** The learnt rules of one application, prepared for lookup. Immutable. */
public final class NameRules {
  private static final int MIX = 0x9E37_79B9;

  private final List<NameRule> rules;

  /** By slot; null if the slot is free. */
  private final byte[][] prefixes;

  private final int[] behinds;
  private final int shift;

  /**
   * @param rules in any order
   * @throws IllegalArgumentException if there is no rule, or two have the same prefix and number
   */
  public NameRules(Collection<NameRule> rules) {
    if (rules.isEmpty()) {
      throw new IllegalArgumentException("no rules");
    }
    this.rules = rules.stream().sorted().toList();
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(rules.size() * 2);
    shift = Integer.SIZE - bits;
    prefixes = new byte[1 << bits][];
    behinds = new int[1 << bits];
    for (NameRule rule : this.rules) {
      byte[] prefix = rule.prefix().getBytes(UTF_8);
      int hash = 0;
      for (byte b : prefix) {
        hash = hash(hash, b);
      }
      if (joins(prefix, prefix.length, hash, rule.behind())) {
        throw new IllegalArgumentException("twice: " + rule);
      }
      int slot = slot(hash, rule.behind());
      while (prefixes[slot] != null) {
        slot = slot + 1 & prefixes.length - 1;
      }
      prefixes[slot] = prefix;
      behinds[slot] = rule.behind();
    }
  }

  public List<NameRule> rules() {
    return rules;
  }

  /** Extends the hash of some bytes, initially 0, by one byte. */
  static int hash(int hash, byte next) {
    return 31 * hash + next;
  }

  /**
   * Returns whether the next token varies.
   *
   * @param written the joined name before the token, from index 0
   * @param hash of these bytes
   * @param behind number of tokens after it
   */
  boolean joins(byte[] written, int size, int hash, int behind) {
    int slot = slot(hash, behind);
    while (prefixes[slot] != null) {
      byte[] prefix = prefixes[slot];
      if (behinds[slot] == behind && Arrays.equals(prefix, 0, prefix.length, written, 0, size)) {
        return true;
      }
      slot = slot + 1 & prefixes.length - 1;
    }
    return false;
  }

  private int slot(int hash, int behind) {
    return (31 * hash + behind) * MIX >>> shift;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NameRules that && rules.equals(that.rules);
  }

  @Override
  public int hashCode() {
    return rules.hashCode();
  }

  @Override
  public String toString() {
    return rules.toString();
  }
}
