package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.source.file.TailedFile.Fingerprint;

/**
 * Finds the compressed copies of files that were not read to their end before compression. It
 * compares the first bytes of the files in a directory. For one thread.
 */
final class CompressedRests {
  private static final Logger log = LoggerFactory.getLogger(CompressedRests.class);
  static final String SUFFIX = ".gz";

  /** Shorter fingerprints do not identify a file. */
  private static final int LEAST_BYTES = 64;

  /**
   * The unread remainder of a compressed file.
   *
   * @param place where reading stopped
   * @param path of the compressed file
   * @param attempts failed attempts to open it
   */
  record Rest(FilePosition place, Path path, int attempts) {
    /**
     * Opens the file, if it is still the one with the position.
     *
     * @throws IOException if it is another file now, or cannot be read
     */
    TailedFile open(String key, int windowBytes) throws IOException {
      GzipContent content = new GzipContent(path, windowBytes);
      try {
        byte[] head = content.head(place.fingerprint().length());
        if (!begins(head, place)) {
          throw new IOException("the path now leads to another file");
        }
        return TailedFile.open(place, key, content, head);
      } catch (IOException | RuntimeException e) {
        content.close();
        throw e;
      }
    }

    /** Returns the remainder for another attempt; its path is searched again. */
    Rest again(Set<Path> neighbours) {
      Optional<Path> now = new CompressedRests().find(place, neighbours);
      return new Rest(place, now.orElse(path), attempts + 1);
    }
  }

  private final Map<Path, byte[]> heads = new HashMap<>();
  private final Map<Path, List<FilePosition>> found = new LinkedHashMap<>();

  /**
   * Records the compressed file that begins like the file of the position.
   *
   * @param among files to search
   */
  void add(FilePosition place, Collection<Path> among) {
    find(place, among)
        .ifPresent(path -> found.computeIfAbsent(path, p -> new ArrayList<>()).add(place));
  }

  /** Returns the recorded compressed files, in the order of their first positions. */
  List<Path> paths() {
    return List.copyOf(found.keySet());
  }

  /**
   * Returns the positions in a compressed file, the furthest one last. A file has several if it had
   * several keys, or if its remainder was already being read.
   */
  List<FilePosition> places(Path path) {
    return found.get(path).stream()
        .sorted(Comparator.comparingLong(FilePosition::position))
        .toList();
  }

  private Optional<Path> find(FilePosition place, Collection<Path> among) {
    return place.fingerprint().length() < LEAST_BYTES
        ? Optional.empty()
        : among.stream()
            .filter(path -> path.toString().endsWith(SUFFIX))
            .filter(path -> begins(heads.computeIfAbsent(path, CompressedRests::head), place))
            .findFirst();
  }

  private static boolean begins(byte[] head, FilePosition place) {
    Fingerprint known = place.fingerprint();
    return head.length >= known.length() && Fingerprint.of(head, known.length()).equals(known);
  }

  private static byte[] head(Path path) {
    try {
      return GzipContent.head(path, TailedFile.FINGERPRINT_BYTES);
    } catch (IOException e) {
      // Other programs may put files of any kind in the directory.
      log.debug("Ignored {}: {}", path, e.toString());
      return new byte[0];
    }
  }

  /** Returns whether the declared length of a compressed file differs from the position. */
  static boolean isLonger(Path path, long position) {
    try {
      return GzipContent.declaredLength(path) != (int) position;
    } catch (IOException e) {
      log.warn("{} cannot be read now: {}", path, e.toString());
      // The position must be kept.
      return true;
    }
  }
}
