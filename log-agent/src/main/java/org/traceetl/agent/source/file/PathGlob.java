package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.traceetl.agent.source.file.TailedFile.Seen;

/**
 * The files that match patterns, found directory by directory; {@code *} matches within one name.
 * Distinguishes unreadable paths from missing ones.
 */
final class PathGlob {
  private final Map<Path, Seen> files = new TreeMap<>();
  private final Set<Path> hidden = new HashSet<>();

  private PathGlob() {}

  /** Returns the files that match any of the patterns. */
  static PathGlob find(List<String> patterns) {
    PathGlob found = new PathGlob();
    for (String pattern : patterns) {
      Path path = Path.of(pattern).toAbsolutePath();
      found.descend(path.getRoot(), path, 0);
    }
    return found;
  }

  static PathGlob in(Path directory) {
    PathGlob found = new PathGlob();
    found.descend(directory, Path.of("*"), 0);
    return found;
  }

  /** Returns the regular files by absolute path, in order. */
  Map<Path, Seen> files() {
    return files;
  }

  /** Returns whether the file may exist although it was not found: a path to it is unreadable. */
  boolean hides(Path file) {
    for (Path at = file; at != null; at = at.getParent()) {
      if (hidden.contains(at)) {
        return true;
      }
    }
    return false;
  }

  private void descend(Path directory, Path pattern, int depth) {
    if (depth == pattern.getNameCount()) {
      see(directory);
      return;
    }
    String name = pattern.getName(depth).toString();
    if (!isPattern(name)) {
      descend(directory.resolve(name), pattern, depth + 1);
      return;
    }
    for (Path child : children(directory, name)) {
      descend(child, pattern, depth + 1);
    }
  }

  private static boolean isPattern(String name) {
    return name.chars().anyMatch(c -> "*?[{".indexOf(c) >= 0);
  }

  private void see(Path path) {
    try {
      files.put(path, Seen.at(path));
    } catch (NoSuchFileException e) {
      // The next look may find it.
    } catch (IOException e) {
      hidden.add(path);
    }
  }

  private List<Path> children(Path directory, String pattern) {
    List<Path> children = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory, pattern)) {
      stream.forEach(children::add);
    } catch (NoSuchFileException | NotDirectoryException e) {
      // The next look may find it.
    } catch (IOException | DirectoryIteratorException e) {
      hidden.add(directory);
    }
    return children;
  }
}
