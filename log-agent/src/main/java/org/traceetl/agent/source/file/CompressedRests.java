package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.source.file.TailedFile.Fingerprint;

/**
 * Finds files that were compressed before they were read to their end, among the compressed ones of
 * their directory, by how they begin. Used at the start, on its thread.
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
   */
  record Rest(SavedPlace place, Path path) {}

  private final Map<Path, byte[]> heads = new HashMap<>();

  /**
   * The rest of the file with the place.
   *
   * @param neighbours the files in its directory
   */
  Optional<Rest> find(SavedPlace place, Set<Path> neighbours) {
    Fingerprint known = place.fingerprint();
    if (known.length() < LEAST_BYTES) {
      return Optional.empty();
    }
    for (Path path : neighbours) {
      if (path.toString().endsWith(SUFFIX)) {
        byte[] head = heads.computeIfAbsent(path, CompressedRests::head);
        if (head.length >= known.length()
            && Fingerprint.of(head, known.length()).equals(known)
            && isLongerThan(path, place.position())) {
          return Optional.of(new Rest(place, path));
        }
      }
    }
    return Optional.empty();
  }

  private static byte[] head(Path path) {
    try {
      return GzipContent.head(path, TailedFile.FINGERPRINT_BYTES);
    } catch (IOException e) {
      // Others may put files of any kind there.
      log.debug("{} is not looked at: {}", path, e.toString());
      return new byte[0];
    }
  }

  /** Most were read whole: that is seen without decompressing them. */
  private static boolean isLongerThan(Path path, long position) {
    try {
      return GzipContent.declaredLength(path) != (int) position;
    } catch (IOException e) {
      log.warn("{} cannot be read now: {}", path, e.toString());
      return false;
    }
  }
}
