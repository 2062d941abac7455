package org.traceetl.server.journal;

/** What a record of the log says. The order is the format's: new ones come last. */
enum RecordKind {
  /** The writer takes the queue. */
  CLAIM,

  /** What the spans between two offsets added up to. */
  WINDOW,

  /** What all windows so far add up to. */
  SNAPSHOT,

  /** The writer has ended, and shows nothing any more. */
  RELEASE;

  private static final RecordKind[] KINDS = values();

  byte code() {
    return (byte) (ordinal() + 1);
  }

  /** Null if there is none of this code. */
  static RecordKind of(byte code) {
    return code >= 1 && code <= KINDS.length ? KINDS[code - 1] : null;
  }
}
