package org.traceetl.proto;

/** Why a batch was refused. A batch is refused as a whole: none of its content counts. */
public enum Rejection {
  /** Not refused. */
  NONE,
  /** The bytes end inside a value. */
  TRUNCATED,
  /**
   * A varint too long for its type, a type other than the declared one, a repeated field, unknown
   * fields that nest too deeply, bytes after the end, or sizes that are out of range or not one for
   * each span and group.
   */
  MALFORMED,
  /**
   * A count or length is negative, exceeds {@link Limits} or the remaining bytes, or is odd for
   * pairs; or the declared number of spans or half-edges is wrong, or the length of keys.
   */
  BAD_LENGTH,
  /** An index is outside the dictionary, or precedes it. */
  BAD_INDEX,
  /** A required field is missing. */
  MISSING_FIELD,
  /**
   * A value is outside its range: sequence, kind, status, side, connection type, duration,
   * threshold, length of IDs, pairs of a group's spans.
   */
  BAD_VALUE,
  /** This reader does not know the batch's version. */
  UNSUPPORTED_VERSION,
  /** The message is larger than {@link Limits#MAX_MESSAGE_BYTES}. */
  TOO_LARGE,
  /** Counting it failed each time: an error of the server, not of the batch. */
  INTERNAL;

  private final String label = name().toLowerCase(java.util.Locale.ROOT);

  /** Returns the reason as a metric label: lower case with underscores. */
  public String label() {
    return label;
  }
}
