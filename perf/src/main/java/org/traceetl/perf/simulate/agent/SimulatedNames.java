package org.traceetl.perf.simulate.agent;

import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * The names of files in the cache, and on the disk. A change of names is atomic. POSIX promises it
 * after a force of its directory only. Without that, a power loss keeps the first changes, as
 * journalling file systems do, or any of them, as the others in <i>All File Systems Are Not Created
 * Equal</i>, OSDI 2014, do.
 */
final class SimulatedNames {
  /**
   * A change of names.
   *
   * @param removed a name that no longer leads to the file; null for none
   * @param added a name that leads to the file; null for none
   */
  private record Change(Path removed, Path added, SimulatedFile file) {
    boolean isIn(Path directory) {
      return (added == null ? removed : added).getParent().equals(directory);
    }

    void applyTo(SortedMap<Path, SimulatedFile> names) {
      if (removed != null) {
        names.remove(removed, file);
      }
      if (added != null) {
        names.put(added, file);
      }
    }
  }

  /** The changes that a force of a directory makes durable. */
  static final class Force {
    private final List<Change> changes;

    private Force(List<Change> changes) {
      this.changes = changes;
    }
  }

  private SortedMap<Path, SimulatedFile> cached = new TreeMap<>();
  private final SortedMap<Path, SimulatedFile> onDisk = new TreeMap<>();
  private final List<Change> unforced = new ArrayList<>();

  /** Returns the file, or null if it does not exist. */
  SimulatedFile find(Path path) {
    return cached.get(path);
  }

  /** Returns the file. */
  SimulatedFile get(Path path) throws NoSuchFileException {
    SimulatedFile file = cached.get(path);
    if (file == null) {
      throw new NoSuchFileException(path.toString());
    }
    return file;
  }

  /** Returns the files by name, as in the cache. */
  SortedMap<Path, SimulatedFile> cached() {
    return Collections.unmodifiableSortedMap(cached);
  }

  Collection<SimulatedFile> files() {
    return cached.values();
  }

  List<Path> list(Path directory, String suffix) {
    return cached.keySet().stream()
        .filter(path -> path.getParent().equals(directory))
        .filter(path -> path.toString().endsWith(suffix))
        .toList();
  }

  void add(Path path, SimulatedFile file) {
    change(new Change(null, path, file));
  }

  void remove(Path path) {
    SimulatedFile file = cached.get(path);
    if (file != null) {
      change(new Change(path, null, file));
    }
  }

  void move(Path from, Path to) throws NoSuchFileException {
    change(new Change(from, to, get(from)));
  }

  /** Leads a name to another file, also after a power loss. */
  void replace(Path path, SimulatedFile file) {
    cached.put(path, file);
    onDisk.put(path, file);
  }

  private void change(Change change) {
    change.applyTo(cached);
    unforced.add(change);
  }

  Force beginForce(Path directory) {
    return new Force(unforced.stream().filter(change -> change.isIn(directory)).toList());
  }

  /** Ends a successful force. */
  void endForce(Force force) {
    force.changes.forEach(change -> change.applyTo(onDisk));
    unforced.removeAll(force.changes);
  }

  /** Loses unforced changes of names, and the unforced content of files. */
  void losePower(RandomGenerator random) {
    boolean inOrder = random.nextBoolean();
    int first = random.nextInt(unforced.size() + 1);
    for (int i = 0; i < unforced.size(); i++) {
      if (inOrder ? i < first : random.nextBoolean()) {
        unforced.get(i).applyTo(onDisk);
      }
    }
    unforced.clear();
    cached = new TreeMap<>(onDisk);
    cached.values().forEach(file -> file.losePower(random));
  }
}
