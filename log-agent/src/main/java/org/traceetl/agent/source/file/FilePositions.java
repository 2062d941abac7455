package org.traceetl.agent.source.file;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Positions in files that are not open: not found since the start, or no longer at their path. A
 * file that returns continues at its position. Owned by the source's thread.
 */
final class FilePositions {
  /** Above this number the oldest is forgotten; if its file returns, it is read again. */
  static final int MOST = 1_024;

  private final SequencedMap<String, FilePosition> byKey = new LinkedHashMap<>();

  void add(FilePosition place) {
    byKey.remove(place.key());
    byKey.put(place.key(), place);
  }

  /** Removes the oldest position if there are too many; otherwise returns null. */
  FilePosition pollSurplus() {
    return byKey.size() > MOST ? byKey.pollFirstEntry().getValue() : null;
  }

  void forget(FilePosition place) {
    byKey.remove(place.key());
  }

  boolean contains(String key) {
    return byKey.containsKey(key);
  }

  /**
   * Moves the file to the furthest position under its key or its path. The path is needed because a
   * remounted disk changes all keys.
   *
   * @return false if the file has no position
   */
  boolean resume(TailedFile file) throws IOException {
    List<FilePosition> its = new ArrayList<>();
    for (FilePosition place : byKey.values()) {
      if (place.key().equals(file.key) || place.path().equals(file.path)) {
        if (file.resume(place)) {
          its.add(place);
        }
      }
    }
    its.forEach(this::forget);
    return !its.isEmpty();
  }

  /** Returns all positions, oldest first. */
  Collection<FilePosition> all() {
    return List.copyOf(byKey.values());
  }
}
