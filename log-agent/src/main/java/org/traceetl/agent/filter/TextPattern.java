package org.traceetl.agent.filter;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.List;

/**
 * A text in which {@code *} stands for any run of bytes, or none, and everything else for itself.
 * Immutable. Matching takes at most as many steps as text and pattern have bytes, multiplied.
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

  /** One for each; null if one of them matches everything: then there is nothing to look at. */
  static TextPattern[] unlessAll(List<String> patterns) {
    TextPattern[] compiled = patterns.stream().map(TextPattern::new).toArray(TextPattern[]::new);
    return Arrays.stream(compiled).anyMatch(one -> one.all) ? null : compiled;
  }

  /** Whether any of them matches; so it is where they are null. */
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

  /** What it is where no star is in it; null otherwise. */
  byte[] literal() {
    return literal ? pattern : null;
  }

  boolean matches(byte[] text, int offset, int length) {
    if (literal) {
      return length == pattern.length
          && Arrays.equals(text, offset, offset + length, pattern, 0, length);
    }
    // The shortest run for each star; where it does not go on, only the last one is made longer.
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
