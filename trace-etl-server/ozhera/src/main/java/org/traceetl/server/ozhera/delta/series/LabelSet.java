package org.traceetl.server.ozhera.delta.series;

import com.google.common.hash.Hashing;
import java.util.Arrays;
import org.traceetl.server.ozhera.SpanType;

/**
 * Labels of a page, with the metrics that have them. Equal label sets of different queues are
 * equal: their numbers are added up.
 */
final class LabelSet {
  /** The metrics of its type that have the labels. */
  enum Role {
    /** All metrics with a label for methods. */
    NAMED,

    /** The counter of failed spans with a label for error codes. */
    ERRORS,

    /** The histogram without a label for methods. */
    UNNAMED
  }

  private final SpanType type;
  private final Role role;
  private final byte[] text;
  private final int hash;

  /** Number of series that use it; confined to {@link LabelSets}. */
  int users;

  /**
   * @param text labels without braces; must not be changed
   */
  LabelSet(SpanType type, Role role, byte[] text) {
    this.type = type;
    this.role = role;
    this.text = text;
    hash =
        Hashing.farmHashFingerprint64()
            .newHasher()
            .putBytes(text)
            .putInt(type.number())
            .putInt(role.ordinal())
            .hash()
            .asInt();
  }

  SpanType type() {
    return type;
  }

  Role role() {
    return role;
  }

  byte[] text() {
    return text;
  }

  @Override
  public boolean equals(Object other) {
    return this == other
        || other instanceof LabelSet that
            && hash == that.hash
            && type == that.type
            && role == that.role
            && Arrays.equals(text, that.text);
  }

  @Override
  public int hashCode() {
    return hash;
  }
}
