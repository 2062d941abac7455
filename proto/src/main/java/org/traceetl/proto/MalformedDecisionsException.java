package org.traceetl.proto;

/** A record that contains no decisions, or has an unknown version. */
public final class MalformedDecisionsException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Why the record is malformed; used as a metric label. */
  public enum Reason {
    /** Too short, too long, or followed by further bytes. */
    LENGTH("length"),
    /** Other first bytes than a record's. */
    MAGIC("magic"),
    /** A later version than this program knows. */
    VERSION("version"),
    /** A checksum that does not match. */
    CHECKSUM("checksum"),
    /** A missing or wrong signature, if one is required. */
    SIGNATURE("signature"),
    /** A number out of range, a name that is not UTF-8, or unsorted names. */
    CONTENT("content");

    private final String label;

    Reason(String label) {
      this.label = label;
    }

    /** Returns the reason as a metric label. */
    public String label() {
      return label;
    }
  }

  private final Reason reason;

  MalformedDecisionsException(Reason reason, String what) {
    super(what);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
