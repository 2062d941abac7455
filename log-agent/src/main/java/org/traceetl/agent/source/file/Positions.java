package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.traceetl.agent.source.file.TailedFile.Fingerprint;
import org.traceetl.agent.state.StateDirectory;

/**
 * The places in files on disk: a line for each file with its place, the length and CRC-32 of its
 * fingerprint, its key, and its path, separated by tabs. The path is written as a URI: it may hold
 * any byte, line ends and such that are no text included.
 */
final class Positions {
  private static final String FILE = "positions";
  private static final String HEADER = "trace-etl positions 2";
  private static final int FIELDS = 5;

  /**
   * Where reading of a file stopped.
   *
   * @param path absolute
   */
  record Saved(Path path, String key, long position, Fingerprint fingerprint) {}

  private final StateDirectory state;

  Positions(StateDirectory state) {
    this.state = state;
  }

  /**
   * Reads them, in the order they were saved in.
   *
   * @throws IOException when they cannot be read or are not ours; starting over in silence would
   *     send every file again
   */
  List<Saved> load() throws IOException {
    byte[] content = state.read(FILE).orElse(null);
    List<Saved> saved = new ArrayList<>();
    if (content == null) {
      return saved;
    }
    List<String> lines = new String(content, US_ASCII).lines().toList();
    try {
      if (!lines.getFirst().equals(HEADER)) {
        throw new IllegalArgumentException(lines.getFirst());
      }
      for (String line : lines.subList(1, lines.size())) {
        String[] fields = line.split("\t", FIELDS);
        saved.add(
            new Saved(
                Path.of(URI.create(fields[4])),
                fields[3],
                Long.parseLong(fields[0]),
                new Fingerprint(Integer.parseInt(fields[1]), Long.parseLong(fields[2]))));
      }
    } catch (RuntimeException e) {
      throw new IOException(
          state.path().resolve(FILE).toAbsolutePath()
              + " does not hold places in files ("
              + e.getMessage()
              + "): restore it, or delete it to read all files from their start",
          e);
    }
    return saved;
  }

  /** Replaces them. */
  void save(Collection<Saved> places) throws IOException {
    StringBuilder text = new StringBuilder(HEADER + "\n");
    places.forEach(place -> append(text, place));
    state.write(FILE, text.toString().getBytes(US_ASCII));
  }

  private static void append(StringBuilder text, Saved place) {
    Fingerprint fingerprint = place.fingerprint();
    text.append(place.position() + "\t" + fingerprint.length() + "\t" + fingerprint.crc());
    text.append("\t" + place.key() + "\t" + place.path().toUri() + "\n");
  }
}
