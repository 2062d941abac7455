package org.traceetl.proto;

/**
 * What a span name is made of where it is looked at for tokens that vary: runs of bytes between
 * separators, which are the space and {@code / : ? & = , ; # |}. So {@code -}, {@code _} and {@code
 * .} are within tokens: what they join is one name, {@code product-blue-mug} or {@code
 * com.shop.Cart}.
 */
public final class NameTokens {
  /** Names with more tokens are left as they are. */
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

  /** Whether a byte of UTF-8 stands between tokens. */
  public static boolean isSeparator(byte b) {
    return b >= 0 && ((b < Long.SIZE ? LOW : HIGH) >>> b & 1) != 0;
  }

  /** How many there are in these bytes. */
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

  /** Where the token that begins there ends. */
  public static int end(byte[] bytes, int from, int end) {
    int to = from;
    while (to < end && !isSeparator(bytes[to])) {
      to++;
    }
    return to;
  }

  /** Whether a placeholder is in the token already: {@code {id}}, or a framework's own. */
  public static boolean isPlaceholder(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] == '{') {
        return true;
      }
    }
    return false;
  }
}
