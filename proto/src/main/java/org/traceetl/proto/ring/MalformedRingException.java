package org.traceetl.proto.ring;

/** Reports a broken rule of a ring's format. The message contains no data of spans. */
public final class MalformedRingException extends Exception {
  /** The malformed part of a ring. */
  public enum Part {
    /** The header's fixed fields, or a file length that differs from them. */
    HEADER,
    /** The file's length: the file was cut. */
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

  public Part part() {
    return part;
  }
}
