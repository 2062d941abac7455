package org.traceetl.agent.source.ring;

import java.io.IOException;
import org.traceetl.agent.flow.Checkpoint;

/**
 * The position up to which a ring was read, and the dropped spans of its writers counted by then.
 * In the spool, a note has the file as name and the three numbers as content, separated by tabs.
 *
 * @param file its name
 * @param position bytes read since the ring's beginning
 */
record RingPosition(String file, long position, long droppedRingFull, long droppedTooLarge) {
  private static final String PREFIX = "ring:";
  private static final int FIELDS = 3;

  /** Returns whether a note is of a ring. */
  static boolean isOne(Checkpoint.Position note) {
    return note.name().startsWith(PREFIX);
  }

  /**
   * Reads a note.
   *
   * @throws IOException if the note is malformed; ignoring it would send spans again
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
        noteName(file), position + "\t" + droppedRingFull + "\t" + droppedTooLarge);
  }

  /** Returns the name of a ring's note. */
  static String noteName(String file) {
    return PREFIX + file;
  }
}
