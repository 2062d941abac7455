package org.traceetl.agent.source.file;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Consumer;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.source.payload.DeletedPosition;

/**
 * Positions in files that are not open: not found since the start, or no longer at their path. A
 * file that returns continues at its position. Obsolete positions are deleted from the spool. Owned
 * by the source's thread.
 */
final class FilePositions {
  /** Above this number the oldest is forgotten; if its file returns, it is read again. */
  static final int MOST = 1_024;

  private final SequencedMap<String, FilePosition> byKey = new LinkedHashMap<>();
  private final Set<String> openKeys;
  private final Intake intake;
  private final Consumer<Runnable> later;

  /**
   * @param notes positions of earlier runs, the most recently changed last
   * @param openKeys a view of the keys of open files
   * @param later runs an action on the source's thread; called by any thread
   * @throws IOException if a note cannot be read
   */
  FilePositions(
      List<Checkpoint.Position> notes,
      Set<String> openKeys,
      Intake intake,
      Consumer<Runnable> later)
      throws IOException {
    this.openKeys = openKeys;
    this.intake = intake;
    this.later = later;
    for (Checkpoint.Position note : notes) {
      put(FilePosition.of(note));
    }
  }

  private void put(FilePosition place) {
    byKey.remove(place.key());
    byKey.put(place.key(), place);
  }

  /** Keeps the position of a closed file. If there are too many, the oldest is deleted. */
  void add(FilePosition place) {
    put(place);
    if (byKey.size() > MOST) {
      delete(List.of(byKey.pollFirstEntry().getValue()));
    }
  }

  /** Forgets a position; the spool keeps it. */
  void forget(FilePosition place) {
    byKey.remove(place.key());
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

  /**
   * Deletes positions from the spool one by one, each after the previous deletion is stored. Stops
   * if the pipeline has no room, and at a position that is now another file's.
   */
  void delete(List<FilePosition> useless) {
    if (!useless.isEmpty() && !isOfAnother(useless.getFirst())) {
      List<FilePosition> others = useless.subList(1, useless.size());
      boolean _ = delete(useless.getFirst(), () -> delete(others));
    }
  }

  /** Deletes the file's positions under its earlier keys. */
  void deleteReplaced(TailedFile file) {
    file.replaced.removeIf(place -> isOfAnother(place) || delete(place, () -> {}));
  }

  private boolean delete(FilePosition place, Runnable then) {
    return DeletedPosition.offer(intake, FileSource.NAME, place.key(), () -> later.accept(then));
  }

  /** Returns whether another file reuses the key, so that the stored position is that file's. */
  private boolean isOfAnother(FilePosition place) {
    return openKeys.contains(place.key()) || byKey.containsKey(place.key());
  }
}
