package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.US_ASCII;

/**
 * Joins span names by the learnt rules of their application: {@code /users/alice/cart} becomes
 * {@code /users/{*}/cart}. Use it after {@link NameTemplate}. The result depends only on the rules
 * and the name's bytes, so it is the same in every process. A second pass changes nothing.
 *
 * <p>Takes time in proportion to the name. Allocates only to grow its buffer. One owner thread.
 */
public final class NameJoiner {
  /** The name does not change. */
  public static final int UNCHANGED = -1;

  private static final byte[] ANY = "{*}".getBytes(US_ASCII);

  private byte[] buffer = new byte[256];
  private int size;

  /** Hash of the buffer's content. */
  private int hash;

  /**
   * Writes the joined name to {@link #buffer}.
   *
   * @param bytes not the buffer
   * @return its length, or {@link #UNCHANGED}
   */
  public int write(NameRules rules, byte[] bytes, int offset, int length) {
    int tokens = NameTokens.count(bytes, offset, length);
    if (tokens < 2 || tokens > NameTokens.MAX) {
      return UNCHANGED;
    }
    int most = length + tokens * ANY.length;
    if (buffer.length < most) {
      buffer = new byte[Math.max(most, buffer.length * 2)];
    }
    size = 0;
    hash = 0;
    boolean changed = false;
    int behind = tokens;
    int end = offset + length;
    int next = offset;
    while (next < end) {
      int to = NameTokens.end(bytes, next, end);
      if (to == next) {
        put(bytes, next, ++to);
      } else {
        behind--;
        // No rule matches the first token, because it has no prefix.
        boolean joined =
            rules.joins(buffer, size, hash, behind) && !NameTokens.isPlaceholder(bytes, next, to);
        put(joined ? ANY : bytes, joined ? 0 : next, joined ? ANY.length : to);
        changed |= joined;
      }
      next = to;
    }
    return changed ? size : UNCHANGED;
  }

  private void put(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      buffer[size++] = bytes[i];
      hash = NameRules.hash(hash, bytes[i]);
    }
  }

  /** Returns the joined name's buffer, valid until the next {@link #write}. */
  public byte[] buffer() {
    return buffer;
  }
}
