package org.traceetl.agent.source.file;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Places in files that are not open: not found yet since the start, or left when they were gone
 * from their path. Whatever comes back goes on from its place. Owned by the source's thread.
 */
final class FilePositions {
  /** Above it the oldest is forgotten: should its file come back, it is read again. */
  static final int MOST = 1_024;

  private final SequencedMap<String, FilePosition> byKey = new LinkedHashMap<>();

  void add(FilePosition place) {
    byKey.remove(place.key());
    byKey.put(place.key(), place);
  }

  /** Takes out the oldest when there are too many; else null. */
  FilePosition pollSurplus() {
    return byKey.size() > MOST ? byKey.pollFirstEntry().getValue() : null;
  }

  void forget(FilePosition place) {
    byKey.remove(place.key());
  }

  /** True if there is one under the key. */
  boolean contains(String key) {
    return byKey.containsKey(key);
  }

  /**
   * Lets the file go on from its place: one under its key, or under its path, since all keys are
   * others once a disk was mounted anew. Of several the furthest counts.
   *
   * @return false if it has none
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

  /** All of them, oldest first. */
  Collection<FilePosition> all() {
    return List.copyOf(byKey.values());
  }
}
