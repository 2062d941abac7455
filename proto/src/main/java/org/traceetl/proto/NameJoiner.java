package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.US_ASCII;

/**
 * Joins span names by the learnt rules of their application: {@code /users/alice/cart} becomes
 * {@code /users/{*}/cart}. To be asked behind {@link NameTemplate}. The result follows from the
 * rules and the name's bytes alone, so it is the same in every process; applied again it changes
 * nothing.
 *
 * <p>Takes time in proportion to the name. Allocates nothing once its buffer has grown. One owner
 * thread.
 */
public final class NameJoiner {
  /** The name stays as it is. */
  public static final int UNCHANGED = -1;

  private static final byte[] ANY = "{*}".getBytes(US_ASCII);

  private byte[] buffer = new byte[256];
  private int size;

  /** Of what is in the buffer. */
  private int hash;

  /**
   * Writes what a name becomes to {@link #buffer}.
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
        // Of the first token no rule can be: nothing stands before it that could be a prefix.
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

  /** Where joined names are written to; valid until the next one is. */
  public byte[] buffer() {
    return buffer;
  }
}
