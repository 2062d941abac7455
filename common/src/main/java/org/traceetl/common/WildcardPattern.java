package org.traceetl.common;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.List;

/**
 * A pattern in which {@code *} matches any run of bytes, also an empty one; other bytes are
 * literal. Immutable. Matching takes at most (bytes of text) * (bytes of pattern) steps.
 */
public final class WildcardPattern {
  private static final byte ANY = '*';

  private final byte[] pattern;
  private final boolean literal;
  private final boolean all;

  public WildcardPattern(String pattern) {
    this.pattern = pattern.getBytes(UTF_8);
    literal = pattern.indexOf(ANY) < 0;
    all = pattern.equals("*");
  }

  /** Compiles the patterns; returns null if one of them matches everything. */
  public static WildcardPattern[] unlessAll(List<String> patterns) {
    WildcardPattern[] compiled =
        patterns.stream().map(WildcardPattern::new).toArray(WildcardPattern[]::new);
    return Arrays.stream(compiled).anyMatch(one -> one.all) ? null : compiled;
  }

  /** Returns whether any pattern matches; null matches everything. */
  public static boolean anyMatches(
      WildcardPattern[] patterns, byte[] text, int offset, int length) {
    if (patterns == null) {
      return true;
    }
    for (WildcardPattern pattern : patterns) {
      if (pattern.matches(text, offset, length)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the pattern if it has no star; null otherwise. */
  public byte[] literal() {
    return literal ? pattern : null;
  }

  /** Returns whether the pattern matches the whole text. */
  public boolean matches(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return matches(bytes, 0, bytes.length);
  }

  /** Returns whether the pattern matches these bytes as a whole. */
  public boolean matches(byte[] text, int offset, int length) {
    if (literal) {
      return length == pattern.length
          && Arrays.equals(text, offset, offset + length, pattern, 0, length);
    }
    // Each star matches the shortest run; on a mismatch only the last star's run grows.
    int end = offset + length;
    int at = 0;
    int star = -1;
    int resume = offset;
    int i = offset;
    while (i < end) {
      if (at < pattern.length && pattern[at] == ANY) {
        star = at++;
        resume = i;
      } else if (at < pattern.length && pattern[at] == text[i]) {
        at++;
        i++;
      } else if (star >= 0) {
        at = star + 1;
        i = ++resume;
      } else {
        return false;
      }
    }
    while (at < pattern.length && pattern[at] == ANY) {
      at++;
    }
    return at == pattern.length;
  }
}
