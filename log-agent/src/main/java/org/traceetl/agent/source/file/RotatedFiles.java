package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.source.file.CompressedRests.Rest;
import org.traceetl.agent.source.file.TailedFile.Seen;

/**
 * Finds the files that were renamed, compressed or deleted while no agent ran, by the positions of
 * earlier runs. Used once, on the source's thread.
 */
final class RotatedFiles {
  private static final Logger log = LoggerFactory.getLogger(RotatedFiles.class);

  private final FilePositions positions;
  private final OpenFiles open;
  private final RestReader rests;

  RotatedFiles(FilePositions positions, OpenFiles open, RestReader rests) {
    this.positions = positions;
    this.open = open;
    this.rests = rests;
  }

  /** Opens renamed files and the remainders of compressed ones; forgets obsolete positions. */
  void find() {
    Map<Path, PathGlob> directories = new HashMap<>();
    Map<FilePosition, Map<Path, Seen>> neighbours = new LinkedHashMap<>();
    for (FilePosition place : positions.all()) {
      neighbours.put(
          place, directories.computeIfAbsent(place.path().getParent(), PathGlob::in).files());
    }
    neighbours.keySet().removeAll(findRests(neighbours));
    neighbours.forEach(this::findRenamed);
  }

  /**
   * Finds compressed files with an unread remainder, and forgets their obsolete positions.
   *
   * @param neighbours the positions, with the files in their directories
   * @return the positions that need no further search
   */
  private Set<FilePosition> findRests(Map<FilePosition, Map<Path, Seen>> neighbours) {
    CompressedRests compressed = new CompressedRests();
    Set<FilePosition> there = new HashSet<>();
    neighbours.forEach((place, files) -> {
      if (isThere(place, files)) {
        there.add(place);
      } else {
        compressed.add(place, files.keySet());
      }
    });
    // A file may exist next to its compressed copy, and have an older position as well.
    List<Path> paths = compressed.paths();
    for (FilePosition place : there) {
      compressed.add(
          place,
          paths.stream()
              .filter(path -> path.getParent().equals(place.path().getParent()))
              .toList());
    }
    Set<FilePosition> done = new HashSet<>();
    for (Path path : paths) {
      List<FilePosition> useless = new ArrayList<>(compressed.places(path));
      FilePosition furthest = useless.getLast();
      if (there.contains(furthest)) {
        useless.removeLast();
      } else if (CompressedRests.isLonger(path, furthest.position())) {
        rests.add(new Rest(furthest, path, 0));
        done.add(useless.removeLast());
      }
      done.addAll(useless);
      useless.forEach(positions::forget);
      positions.delete(useless);
    }
    return done;
  }

  /** Returns whether the position's file still exists, under its key or its path. */
  private static boolean isThere(FilePosition place, Map<Path, Seen> neighbours) {
    for (Map.Entry<Path, Seen> neighbour : neighbours.entrySet()) {
      Path path = neighbour.getKey();
      String key = neighbour.getValue().key();
      if (key.equals(place.key()) || path.equals(place.path())) {
        try (TailedFile file = TailedFile.open(path, key)) {
          if (file.begins(place)) {
            return true;
          }
        } catch (IOException e) {
          log.warn("{} cannot be read now: {}", path, e.toString());
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Opens a file that an earlier run had not finished and that was renamed; forgets the position of
   * a deleted file.
   *
   * @param neighbours the files in its directory
   */
  private void findRenamed(FilePosition place, Map<Path, Seen> neighbours) {
    // Positions are kept while the whole directory is missing.
    boolean found = neighbours.isEmpty() || neighbours.containsKey(place.path());
    for (Map.Entry<Path, Seen> neighbour : neighbours.entrySet()) {
      Path path = neighbour.getKey();
      if (neighbour.getValue().key().equals(place.key()) && !path.equals(place.path())) {
        try {
          found |= Files.size(path) == place.position() || open.resume(path, place.key());
        } catch (IOException e) {
          found = true;
          log.warn("{} cannot be read now: {}", path, e.toString());
        }
      }
    }
    if (!found) {
      positions.forget(place);
      positions.delete(List.of(place));
    }
  }
}
