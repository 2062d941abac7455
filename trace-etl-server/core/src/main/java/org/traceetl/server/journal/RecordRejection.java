package org.traceetl.server.journal;

import java.util.Locale;

/** Why something in the log does not count. */
public enum RecordRejection {
  /** A record of which a part is missing, or has something else in between. */
  TORN,

  /** Bytes that have changed since they were written. */
  CHECKSUM,

  /**
   * Of a format that this version does not know. It is not passed over: the reader stops before it,
   * and whoever needs what is behind it gets an error.
   */
  VERSION,

  /** Of another queue, or nothing of the journal's at all. */
  FOREIGN,

  /** Of an owner that another one has succeeded, or a repeat of what counts already. */
  STALE,

  /** Does not go on where the chain ends. */
  OUT_OF_CHAIN,

  /** Without an authentication code, or with a wrong one. */
  UNAUTHENTICATED,

  /** Authenticated with a key that this server does not have. */
  UNKNOWN_KEY,

  /** It would stop the reader, but an operator has said to pass over it. */
  STEPPED_OVER,

  /** Whole and unchanged, yet senseless. */
  MALFORMED;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** As in metrics: lower case. */
  public String label() {
    return label;
  }
}
