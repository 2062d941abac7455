package org.traceetl.agent.source.file;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.source.file.TailedFile.Fingerprint;

/**
 * Where reading of a file stopped. As a note it is named by the file's key, and its content is the
 * place, the length and CRC-32 of the fingerprint, and the path, separated by tabs. The path is
 * written as a URI: it may hold any byte, line ends and such that are no text included.
 *
 * @param path absolute
 */
record FilePosition(Path path, String key, long position, Fingerprint fingerprint) {
  private static final int FIELDS = 4;

  /**
   * Reads a note.
   *
   * @throws IOException when it is none of ours; starting over in silence would send the file again
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

  /** Ends what is kept of it. */
  Checkpoint.Position forgotten() {
    return new Checkpoint.Position(key, "");
  }
}
