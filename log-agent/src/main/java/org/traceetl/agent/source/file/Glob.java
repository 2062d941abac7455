package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Finds files by patterns, directory by directory; {@code *} stays within one name. */
final class Glob {
  private Glob() {}

  /** The paths that match any of the patterns, in order. What cannot be listed holds none. */
  static Set<Path> find(List<String> patterns) {
    Set<Path> found = new TreeSet<>();
    for (String pattern : patterns) {
      Path path = Path.of(pattern);
      Path start = path.isAbsolute() ? path.getRoot() : Path.of("");
      descend(start, path, 0, found);
    }
    return found;
  }

  private static void descend(Path directory, Path pattern, int depth, Set<Path> found) {
    if (depth == pattern.getNameCount()) {
      if (Files.isRegularFile(directory)) {
        found.add(directory);
      }
      return;
    }
    String name = pattern.getName(depth).toString();
    if (!isPattern(name)) {
      descend(directory.resolve(name), pattern, depth + 1, found);
      return;
    }
    for (Path child : children(directory, name)) {
      descend(child, pattern, depth + 1, found);
    }
  }

  private static boolean isPattern(String name) {
    return name.chars().anyMatch(c -> "*?[{".indexOf(c) >= 0);
  }

  /** The directory's entries whose name matches. */
  static List<Path> children(Path directory, String pattern) {
    List<Path> children = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory, pattern)) {
      stream.forEach(children::add);
    } catch (IOException | DirectoryIteratorException e) {
      // Not there, not readable or not a directory: the next look may find it.
      return List.of();
    }
    return children;
  }
}
