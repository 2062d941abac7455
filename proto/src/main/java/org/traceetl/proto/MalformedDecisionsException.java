package org.traceetl.proto;

/** Bytes that are no decisions, or of a version that is not known here. */
public final class MalformedDecisionsException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Why; few values, so that they can be counted. */
  public enum Reason {
    /** Shorter than it has to be, longer than it may be, or something stands behind it. */
    LENGTH("length"),
    /** It does not begin as decisions do. */
    MAGIC("magic"),
    /** Of a later version than this program knows. */
    VERSION("version"),
    /** The checksum is not that of the bytes. */
    CHECKSUM("checksum"),
    /** Without a signature of the servers, where one is required. */
    SIGNATURE("signature"),
    /** A number out of its range, a name that is no UTF-8, or names not in order. */
    CONTENT("content");

    private final String label;

    Reason(String label) {
      this.label = label;
    }

    /** As a metric label. */
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
