package org.traceetl.server.journal.format;

/** The kinds of records. */
public enum RecordKind {
  /** The writer takes the queue over. */
  CLAIM(1),

  /** The sums of the spans between two offsets. */
  WINDOW(2),

  /** The sum of all windows so far. */
  SNAPSHOT(3),

  /** The writer has ended, and shows nothing any more. */
  RELEASE(4),

  /** An operator makes readers skip a message that stops them. */
  STEP(5);

  private static final RecordKind[] KINDS = values();

  private final byte code;

  RecordKind(int code) {
    this.code = (byte) code;
  }

  /** Returns the code in the format. */
  byte code() {
    return code;
  }

  /** Returns the kind with this code, or null. */
  static RecordKind of(byte code) {
    for (RecordKind kind : KINDS) {
      if (kind.code == code) {
        return kind;
      }
    }
    return null;
  }
}
