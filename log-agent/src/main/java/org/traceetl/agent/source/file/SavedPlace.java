package org.traceetl.agent.source.file;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.traceetl.agent.flow.Note;
import org.traceetl.agent.source.file.TailedFile.Fingerprint;

/**
 * Where reading of a file stopped. As a note it is named by the file's key, and its content is the
 * place, the length and CRC-32 of the fingerprint, and the path, separated by tabs. The path is
 * written as a URI: it may hold any byte, line ends and such that are no text included.
 *
 * @param path absolute
 */
record SavedPlace(Path path, String key, long position, Fingerprint fingerprint) {
  private static final int FIELDS = 4;

  /**
   * Reads a note.
   *
   * @throws IOException when it is none of ours; starting over in silence would send the file again
   */
  static SavedPlace of(Note.Place note) throws IOException {
    String[] fields = note.content().split("\t", FIELDS);
    try {
      return new SavedPlace(
          Path.of(URI.create(fields[3])),
          note.name(),
          Long.parseLong(fields[0]),
          new Fingerprint(Integer.parseInt(fields[1]), Long.parseLong(fields[2])));
    } catch (RuntimeException e) {
      throw new IOException(
          "the spool holds an invalid read position of a trace log (" + note.content() + ")", e);
    }
  }

  Note.Place note() {
    return new Note.Place(
        key,
        position + "\t" + fingerprint.length() + "\t" + fingerprint.crc() + "\t" + path.toUri());
  }

  /** Ends what is kept of it. */
  Note.Place forgotten() {
    return new Note.Place(key, "");
  }
}
