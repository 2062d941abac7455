package org.traceetl.proto;

/** Why a batch was refused. A batch is refused whole: none of its spans counts. */
public enum Rejection {
  /** Not refused. */
  NONE,
  /** The bytes end inside a value. */
  TRUNCATED,
  /**
   * A varint is longer than its type allows, a type is not the declared one, a field stands twice,
   * unknown fields nest too deeply, or bytes follow the end.
   */
  MALFORMED,
  /**
   * A count or length is negative, larger than {@link Limits} or the bytes left allow, odd where
   * pairs stand, or the declared number of spans is not the real one.
   */
  BAD_LENGTH,
  /** An index points outside the dictionary, or stands before the dictionary. */
  BAD_INDEX,
  /** A required field is missing. */
  MISSING_FIELD,
  /** A value is outside its range: sequence, kind, status, duration, threshold, length of IDs. */
  BAD_VALUE,
  /** The batch's version is not one this reader knows. */
  UNSUPPORTED_VERSION,
  /** The message is larger than {@link Limits#MAX_MESSAGE_BYTES}. */
  TOO_LARGE,
  /** Its recording failed each time: a fault of the server, not of the batch. */
  INTERNAL;

  private final String label = name().toLowerCase(java.util.Locale.ROOT);

  /** The reason as a metric label: lower case with underscores. */
  public String label() {
    return label;
  }
}
