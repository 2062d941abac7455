package org.traceetl.agent.filter;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import org.traceetl.agent.config.FilterRules.Redaction;
import org.traceetl.common.WildcardPattern;

/**
 * Replaces the matches of a regular expression. Each search takes time linear in the text, so at
 * most {@value #MOST_MATCHES} matches are replaced; the text after the last of them is dropped if
 * it may have another match. A text without the part that every match needs is not searched, and
 * nothing is allocated. Immutable.
 */
final class Redactor {
  /** Most matches in one text. */
  static final int MOST_MATCHES = 1_000;

  private final Pattern pattern;
  private final byte[] required;

  /** Keys to whose values it applies; null for all. */
  final WildcardPattern[] keys;

  private final String replacement;

  Redactor(Redaction rule) {
    pattern = Pattern.compile(rule.pattern());
    required = RequiredText.of(rule.pattern()).getBytes(UTF_8);
    keys = WildcardPattern.unlessAll(rule.attributes());
    replacement = rule.replacement();
  }

  /** Returns whether it applies to values of this key. */
  boolean isFor(byte[] key, int offset, int length) {
    return WildcardPattern.anyMatches(keys, key, offset, length);
  }

  /**
   * A redacted text.
   *
   * @param whole false if its end was dropped
   */
  record Redacted(byte[] text, boolean whole) {}

  /**
   * Returns the text with its matches replaced; null if there are none.
   *
   * @param mostBytes if the result becomes longer, the rest is dropped
   */
  Redacted redact(byte[] text, int offset, int length, int mostBytes) {
    if (length == 0 || !contains(text, offset, length)) {
      return null;
    }
    String read = new String(text, offset, length, UTF_8);
    Matcher matcher = pattern.matcher(read);
    if (!matcher.find()) {
      return null;
    }
    StringBuilder written = new StringBuilder(read.length());
    int at = 0;
    int matches = 0;
    boolean more = true;
    while (more && matches < MOST_MATCHES && written.length() <= mostBytes) {
      written.append(read, at, matcher.start()).append(replacement);
      at = matcher.end();
      matches++;
      more = matcher.find();
    }
    if (!more) {
      written.append(read, at, read.length());
    }
    return new Redacted(written.toString().getBytes(UTF_8), !more);
  }

  private boolean contains(byte[] text, int offset, int length) {
    int last = offset + length - required.length;
    for (int i = offset; i <= last; i++) {
      int matched = 0;
      while (matched < required.length && text[i + matched] == required[matched]) {
        matched++;
      }
      if (matched == required.length) {
        return true;
      }
    }
    return false;
  }
}
