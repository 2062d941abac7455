package org.traceetl.agent.source.file;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.source.file.TailedFile.Fingerprint;

/**
 * The position up to which a file was read. In the spool, a note has the file's key as name. Its
 * content is position, length and CRC-32 of the fingerprint, and path, separated by tabs. The path
 * is a URI because it may contain any byte, including line ends and bytes that are not text.
 *
 * @param path absolute
 */
record FilePosition(Path path, String key, long position, Fingerprint fingerprint) {
  private static final int FIELDS = 4;

  /**
   * Reads a note.
   *
   * @throws IOException if the note is malformed; ignoring it would send the file again
   */
  static FilePosition of(Checkpoint.Position note) throws IOException {
    String[] fields = note.content().split("\t", FIELDS);
    try {
      return new FilePosition(
          Path.of(URI.create(fields[3])),
          note.name(),
          Long.parseLong(fields[0]),
          new Fingerprint(Integer.parseInt(fields[1]), Long.parseLong(fields[2])));
    } catch (RuntimeException e) {
      throw new IOException(
          "the spool holds an invalid read position of a trace log (" + note.content() + ")", e);
    }
  }

  Checkpoint.Position checkpoint() {
    return new Checkpoint.Position(
        key,
        position + "\t" + fingerprint.length() + "\t" + fingerprint.crc() + "\t" + path.toUri());
  }
}
