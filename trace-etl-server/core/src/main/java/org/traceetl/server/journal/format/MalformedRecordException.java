package org.traceetl.server.journal.format;

/** Thrown for bytes that are not a record: incomplete, damaged, or of an unknown version. */
public sealed class MalformedRecordException extends Exception permits UnknownVersionException {
  private static final long serialVersionUID = 1;

  MalformedRecordException(String message) {
    super(message);
  }
}
