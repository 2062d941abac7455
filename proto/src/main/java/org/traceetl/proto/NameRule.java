package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A rule that the token after a prefix varies, in names with a given number of tokens after it.
 * {@code {*}} replaces the token. Immutable.
 *
 * @param prefix the joined name up to the token: {@code /users/}, {@code /users/{*}/orders/}. It
 *     contains a token that is not a placeholder, so a joined name keeps its first token and is
 *     never only placeholders
 * @param behind number of tokens after the varying one; 0 to {@link NameTokens#MAX} - 2
 * @param values different tokens seen when the rule was learnt, at least 1
 * @param sinceMillis when the rule was learnt, milliseconds since 1970
 */
public record NameRule(String prefix, int behind, int values, long sinceMillis)
    implements Comparable<NameRule> {
  /** Most bytes of a prefix. */
  public static final int MAX_PREFIX_BYTES = 256;

  /**
   * @throws IllegalArgumentException if a value is not valid
   */
  public NameRule {
    if (!takes(prefix) || behind < 0 || behind > NameTokens.MAX - 2 || values < 1) {
      // Omits the prefix: in a record it may be anything, and the message is logged.
      throw new IllegalArgumentException(
          (takes(prefix) ? "a rule with a prefix of " : "a rule with an invalid prefix of ")
              + prefix.length()
              + " characters, behind = "
              + behind
              + ", values = "
              + values);
    }
  }

  /** Returns whether a rule may have this prefix. */
  public static boolean takes(String prefix) {
    byte[] bytes = prefix.getBytes(UTF_8);
    if (!RecordFormat.isText(prefix, MAX_PREFIX_BYTES)
        || !NameTokens.isSeparator(bytes[bytes.length - 1])) {
      return false;
    }
    for (int i = 0; i < bytes.length; i++) {
      int end = NameTokens.end(bytes, i, bytes.length);
      if (end > i && !NameTokens.isPlaceholder(bytes, i, end)) {
        return true;
      }
      i = end;
    }
    return false;
  }

  /** Returns the joined name up to and including the token: {@code /users/{*}}. */
  public String text() {
    return prefix + "{*}";
  }

  /** Orders rules as in a record: by the prefixes' bytes, then by {@link #behind}. */
  @Override
  public int compareTo(NameRule other) {
    int byPrefix = RecordFormat.BY_BYTES.compare(prefix, other.prefix);
    return byPrefix != 0 ? byPrefix : Integer.compare(behind, other.behind);
  }
}
