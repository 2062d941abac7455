package org.traceetl.server.config;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Estimates the instructions of an RE2 expression before it is compiled. RE2 writes out counted
 * repetitions, so a short expression with nested ones would need more memory than there is.
 */
final class PatternSize {
  private static final Pattern COUNTS = Pattern.compile("\\{(\\d+)(,(\\d*))?}");
  private static final int COUNT_DIGITS = 4;
  private static final long MOST = 1L << 40;

  private final String pattern;

  /** Instructions of the open groups before their innermost one. */
  private final Deque<Long> outer = new ArrayDeque<>();

  /** Instructions of the innermost open group, without {@link #last}. */
  private long sum;

  /** Instructions of the last element, which a repetition repeats. */
  private long last;

  private PatternSize(String pattern) {
    this.pattern = pattern;
  }

  /**
   * Returns about the number of instructions, never much less.
   *
   * @param pattern need not be valid
   */
  static long of(String pattern) {
    return new PatternSize(pattern).size();
  }

  private long size() {
    int at = 0;
    while (at < pattern.length()) {
      at = element(at);
    }
    while (!outer.isEmpty()) {
      close();
    }
    return sum + last;
  }

  /** Adds the element at an index; returns the index after it. */
  private int element(int at) {
    switch (pattern.charAt(at)) {
      case '(' -> {
        next(0);
        outer.push(sum);
        sum = 0;
      }
      case ')' -> close();
      case '{' -> {
        return repetition(at);
      }
      case '[' -> {
        next(1);
        return afterClass(at + 1);
      }
      case '\\' -> {
        next(1);
        return pattern.startsWith("\\Q", at) ? afterQuote(at + 2) : at + 2;
      }
      default -> next(1);
    }
    return at + 1;
  }

  private void next(long size) {
    sum = Math.min(MOST, sum + last);
    last = size;
  }

  private void close() {
    long group = sum + last + 2;
    sum = outer.isEmpty() ? 0 : outer.pop();
    last = Math.min(MOST, group);
  }

  private int repetition(int at) {
    Matcher counts = COUNTS.matcher(pattern).region(at, pattern.length());
    if (!counts.lookingAt()) {
      next(1);
      return at + 1;
    }
    boolean isOpen = counts.group(3) != null && counts.group(3).isEmpty();
    String most = counts.group(3) == null || isOpen ? counts.group(1) : counts.group(3);
    long count = most.length() > COUNT_DIGITS ? MOST : Long.parseLong(most) + (isOpen ? 1 : 0);
    last = last == 0 || count < MOST / last ? last * count : MOST;
    return counts.end();
  }

  /** Ends a class early rather than late, so that the rest counts. */
  private int afterClass(int from) {
    int at = from;
    while (at < pattern.length() && pattern.charAt(at) != ']') {
      at += pattern.charAt(at) == '\\' ? 2 : 1;
    }
    return at + 1;
  }

  private int afterQuote(int from) {
    int end = pattern.indexOf("\\E", from);
    int stop = end < 0 ? pattern.length() : end;
    next(Math.max(0, stop - from - 1));
    next(1);
    return end < 0 ? stop : end + 2;
  }
}
