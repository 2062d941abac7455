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
 * Finds files that were compressed before they were read to their end, among the compressed ones of
 * their directory, by how they begin. For one thread.
 */
final class CompressedRests {
  private static final Logger log = LoggerFactory.getLogger(CompressedRests.class);
  static final String SUFFIX = ".gz";

  /** Less of a beginning tells nothing apart. */
  private static final int LEAST_BYTES = 64;

  /**
   * What is left of a file.
   *
   * @param place where its reading stopped
   * @param path of the compressed file
   * @param attempts how often it could not be opened
   */
  record Rest(FilePosition place, Path path, int attempts) {
    /**
     * Opens it, if it is still the file with the place.
     *
     * @throws IOException when it is another by now, or cannot be read
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

    /** The same for another attempt: its path is looked for anew. */
    Rest again(Set<Path> neighbours) {
      Optional<Path> now = new CompressedRests().find(place, neighbours);
      return new Rest(place, now.orElse(path), attempts + 1);
    }
  }

  private final Map<Path, byte[]> heads = new HashMap<>();
  private final Map<Path, List<FilePosition>> found = new LinkedHashMap<>();

  /**
   * Notes the compressed file that begins as what the place is of.
   *
   * @param among files
   */
  void add(FilePosition place, Collection<Path> among) {
    find(place, among)
        .ifPresent(path -> found.computeIfAbsent(path, p -> new ArrayList<>()).add(place));
  }

  /** The compressed files that were noted, in the order of their first places. */
  List<Path> paths() {
    return List.copyOf(found.keySet());
  }

  /**
   * The places in a compressed file, the furthest at the end. There are several when the file had
   * several keys, and when its rest was being read.
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
      // Others may put files of any kind there.
      log.debug("Ignored {}: {}", path, e.toString());
      return new byte[0];
    }
  }

  /**
   * Whether there is more in a compressed file than what is before the position. Most were read
   * whole: that is seen without decompressing them.
   */
  static boolean isLonger(Path path, long position) {
    try {
      return GzipContent.declaredLength(path) != (int) position;
    } catch (IOException e) {
      log.warn("{} cannot be read now: {}", path, e.toString());
      // Its place is to be kept.
      return true;
    }
  }
}
