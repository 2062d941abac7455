package org.traceetl.proto;

/**
 * The tokens of a span name that may vary: runs of bytes between separators, which are the space
 * and {@code / : ? & = , ; # |}. {@code -}, {@code _} and {@code .} belong to tokens, because they
 * join one name: {@code product-blue-mug}, {@code com.shop.Cart}.
 */
public final class NameTokens {
  /** Names with more tokens do not change. */
  public static final int MAX = 32;

  private static final String SEPARATORS = " /:?&=,;#|";
  private static final long LOW = mask(0);
  private static final long HIGH = mask(Long.SIZE);

  private NameTokens() {}

  private static long mask(int from) {
    long mask = 0;
    for (int i = 0; i < SEPARATORS.length(); i++) {
      int bit = SEPARATORS.charAt(i) - from;
      mask |= bit >= 0 && bit < Long.SIZE ? 1L << bit : 0;
    }
    return mask;
  }

  /** Returns whether a byte of UTF-8 separates tokens. */
  public static boolean isSeparator(byte b) {
    return b >= 0 && ((b < Long.SIZE ? LOW : HIGH) >>> b & 1) != 0;
  }

  /** Returns the number of tokens. */
  public static int count(byte[] bytes, int offset, int length) {
    int tokens = 0;
    boolean between = true;
    for (int i = offset; i < offset + length; i++) {
      boolean separator = isSeparator(bytes[i]);
      tokens += between && !separator ? 1 : 0;
      between = separator;
    }
    return tokens;
  }

  /** Returns the end of the token that starts here. */
  public static int end(byte[] bytes, int from, int end) {
    int to = from;
    while (to < end && !isSeparator(bytes[to])) {
      to++;
    }
    return to;
  }

  /** Returns whether the token contains a placeholder: {@code {id}}, or one of a framework. */
  public static boolean isPlaceholder(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] == '{') {
        return true;
      }
    }
    return false;
  }
}
