package org.traceetl.proto.ring;

/** A ring breaks a rule of its format. Its message says which, without data of spans. */
public final class MalformedRingException extends Exception {
  /** Which part of it. */
  public enum Part {
    /** The header's fixed fields, or the file's length is not theirs. */
    HEADER,
    /** The file's length: it became shorter. */
    TRUNCATED,
    /** The resource. */
    RESOURCE,
    /** Tail or head. */
    POSITION,
    /** A record's length. */
    RECORD,
    /** The dictionary. */
    DICTIONARY
  }

  private final Part part;

  public MalformedRingException(Part part, String message) {
    super(message);
    this.part = part;
  }

  /** The part that is wrong. */
  public Part part() {
    return part;
  }
}
