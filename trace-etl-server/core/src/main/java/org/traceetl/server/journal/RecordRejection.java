package org.traceetl.server.journal;

import java.util.Locale;

/** Why a message or record in the log does not count, or is invalid in part. */
public enum RecordRejection {
  /** A part of the record is missing, or another message is in between. */
  TORN,

  /** The bytes have changed since they were written. */
  CHECKSUM,

  /**
   * The format is unknown to this version. The reader stops before the record, and every read
   * beyond it fails.
   */
  VERSION,

  /** It belongs to another queue, or is not the journal's. */
  FOREIGN,

  /** Its owner was superseded, or it repeats a record that counts already. */
  STALE,

  /** It does not continue the chain. */
  OUT_OF_CHAIN,

  /** It has rows of series that no record defines; only these rows do not count. */
  UNKNOWN_SERIES,

  /** A window or snapshot contradicts itself or the open half-edges; it counts. */
  INCONSISTENT,

  /** Its authentication code is missing or wrong. */
  UNAUTHENTICATED,

  /** It is authenticated with a key that this server does not have. */
  UNKNOWN_KEY,

  /** It would stop the reader, but an operator stepped over it. */
  STEPPED_OVER,

  /** Whole and unchanged, but invalid. */
  MALFORMED;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** Returns the name in metrics, in lower case. */
  public String label() {
    return label;
  }
}
