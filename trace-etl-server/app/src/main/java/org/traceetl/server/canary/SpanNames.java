package org.traceetl.server.canary;

import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The names of the spans. They contain a word of this run, so that counters of earlier runs do not
 * count, and the path. The word has no digit and no hexadecimal letter, so that servers do not take
 * it for an identifier.
 */
final class SpanNames {
  private static final String LETTERS = "ghjkmnpqrstvwxyz";
  private static final int LENGTH = 6;
  private static final Pattern SPAN_NAME =
      Pattern.compile("(?:^|,)span_name=\"canary [a-z]+ ([a-z]+) [a-z]+\"");

  private final String prefix;

  SpanNames(RandomGenerator random) {
    StringBuilder word = new StringBuilder();
    for (int i = 0; i < LENGTH; i++) {
      word.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    }
    prefix = "canary " + word + " ";
  }

  String of(String path, String what) {
    return prefix + path + " " + what;
  }

  /** Returns what all names of this run begin with. */
  String prefix() {
    return prefix;
  }

  /** Returns the path of a series by its labels; null if the series is not one of this run. */
  String path(String labels) {
    if (!labels.contains(prefix)) {
      return null;
    }
    Matcher name = SPAN_NAME.matcher(labels);
    return name.find() ? name.group(1) : null;
  }
}
