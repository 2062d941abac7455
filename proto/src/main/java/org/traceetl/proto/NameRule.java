package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * That the token behind a prefix varies, in names with so many tokens behind it: {@code {*}} takes
 * its place. Immutable.
 *
 * @param prefix all that stands before the token, as it is in joined names: {@code /users/}, {@code
 *     /users/{*}/orders/}. A token without a placeholder is in it: a name never becomes
 *     placeholders alone, and its first token always stays
 * @param behind tokens behind the one that varies, whatever they are; 0 to {@link NameTokens#MAX} -
 *     2
 * @param values different tokens that were seen there when it was learnt, at least 1
 * @param sinceMillis when it was learnt, milliseconds since 1970
 */
public record NameRule(String prefix, int behind, int values, long sinceMillis)
    implements Comparable<NameRule> {
  /** Most bytes of a prefix. */
  public static final int MAX_PREFIX_BYTES = 256;

  /**
   * @throws IllegalArgumentException if one of them is not as it must be
   */
  public NameRule {
    if (!takes(prefix) || behind < 0 || behind > NameTokens.MAX - 2 || values < 1) {
      // Without the prefix: of a record it may be anything, and the message goes to the log.
      throw new IllegalArgumentException(
          (takes(prefix) ? "a prefix" : "what is no prefix")
              + " of "
              + prefix.length()
              + " characters, behind = "
              + behind
              + ", values = "
              + values);
    }
  }

  /** Whether there may be a rule for what stands behind this prefix. */
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

  /** What names become, up to the token: {@code /users/{*}}. */
  public String text() {
    return prefix + "{*}";
  }

  /** In the order of their prefixes' bytes, then of the tokens behind: that of a record. */
  @Override
  public int compareTo(NameRule other) {
    int byPrefix = RecordFormat.BY_BYTES.compare(prefix, other.prefix);
    return byPrefix != 0 ? byPrefix : Integer.compare(behind, other.behind);
  }
}
