package org.traceetl.server.journal;

/** What a record of the log says. */
enum RecordKind {
  /** The writer takes the queue. */
  CLAIM(1),

  /** What the spans between two offsets added up to. */
  WINDOW(2),

  /** What all windows so far add up to. */
  SNAPSHOT(3),

  /** The writer has ended, and shows nothing any more. */
  RELEASE(4),

  /** An operator has readers pass over a message that stops them. */
  STEP(5);

  private static final RecordKind[] KINDS = values();

  private final byte code;

  RecordKind(int code) {
    this.code = (byte) code;
  }

  /** As in the format. */
  byte code() {
    return code;
  }

  /** Null if there is none of this code. */
  static RecordKind of(byte code) {
    for (RecordKind kind : KINDS) {
      if (kind.code == code) {
        return kind;
      }
    }
    return null;
  }
}
