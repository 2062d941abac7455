package org.traceetl.server.ozhera.delta;

import com.google.common.hash.Hashing;
import java.util.Arrays;
import org.traceetl.server.ozhera.SpanType;

/**
 * Labels that stand on a page, and what they stand at. Two that say the same are equal, whichever
 * queue they come from: their numbers are added up.
 */
final class LabelSet {
  /** At which metrics of its type. */
  enum Role {
    /** All that tell methods apart. */
    NAMED,

    /** The counter of failed spans, where it tells codes apart. */
    ERRORS,

    /** The histogram that does not tell methods apart. */
    UNNAMED
  }

  private final SpanType type;
  private final Role role;
  private final byte[] text;
  private final int hash;

  /** Series that have it; of {@link LabelSets}. */
  int users;

  /**
   * @param text labels without braces; not to be written to any more
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
