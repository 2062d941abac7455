package org.traceetl.agent.filter;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.List;

/**
 * A pattern in which {@code *} matches any run of bytes, also an empty one; other bytes are
 * literal. Immutable. Matching takes at most (bytes of text) * (bytes of pattern) steps.
 */
final class TextPattern {
  private static final byte ANY = '*';

  private final byte[] pattern;
  private final boolean literal;
  private final boolean all;

  TextPattern(String pattern) {
    this.pattern = pattern.getBytes(UTF_8);
    literal = pattern.indexOf(ANY) < 0;
    all = pattern.equals("*");
  }

  /** Compiles the patterns; returns null if one of them matches everything. */
  static TextPattern[] unlessAll(List<String> patterns) {
    TextPattern[] compiled = patterns.stream().map(TextPattern::new).toArray(TextPattern[]::new);
    return Arrays.stream(compiled).anyMatch(one -> one.all) ? null : compiled;
  }

  /** Returns whether any pattern matches; null matches everything. */
  static boolean anyMatches(TextPattern[] patterns, byte[] text, int offset, int length) {
    if (patterns == null) {
      return true;
    }
    for (TextPattern pattern : patterns) {
      if (pattern.matches(text, offset, length)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the pattern if it has no star; null otherwise. */
  byte[] literal() {
    return literal ? pattern : null;
  }

  boolean matches(byte[] text, int offset, int length) {
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
