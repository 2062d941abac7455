package org.traceetl.agent.source.ring;

import java.io.IOException;
import org.traceetl.agent.flow.Checkpoint;

/**
 * Where reading of a ring stopped, and how many dropped spans of its writers were counted by then.
 * As a note it is named by the file, and its content is the three numbers, separated by tabs.
 *
 * @param file its name
 * @param position bytes read since the ring's beginning
 */
record RingPosition(String file, long position, long droppedRingFull, long droppedTooLarge) {
  private static final String PREFIX = "ring:";
  private static final int FIELDS = 3;

  /** Whether a note is a ring's. */
  static boolean isOne(Checkpoint.Position note) {
    return note.name().startsWith(PREFIX);
  }

  /**
   * Reads a note.
   *
   * @throws IOException when it is none of ours; starting over in silence would send spans again
   */
  static RingPosition of(Checkpoint.Position note) throws IOException {
    String[] fields = note.content().split("\t", FIELDS);
    try {
      return new RingPosition(
          note.name().substring(PREFIX.length()),
          Long.parseLong(fields[0]),
          Long.parseLong(fields[1]),
          Long.parseLong(fields[2]));
    } catch (RuntimeException e) {
      throw new IOException(
          "the spool holds an invalid read position of a ring (" + note.content() + ")", e);
    }
  }

  Checkpoint.Position checkpoint() {
    return new Checkpoint.Position(
        PREFIX + file, position + "\t" + droppedRingFull + "\t" + droppedTooLarge);
  }

  /** Ends what is kept of a ring. */
  static Checkpoint.Position forgotten(String file) {
    return new Checkpoint.Position(PREFIX + file, "");
  }
}
