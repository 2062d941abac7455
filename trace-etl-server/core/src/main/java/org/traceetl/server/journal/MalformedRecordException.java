package org.traceetl.server.journal;

/** Bytes that are no record: torn, damaged, or of a version that this reader does not know. */
public sealed class MalformedRecordException extends Exception permits UnknownVersionException {
  private static final long serialVersionUID = 1;

  MalformedRecordException(String message) {
    super(message);
  }
}
