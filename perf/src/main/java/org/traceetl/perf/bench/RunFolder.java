package org.traceetl.perf.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/**
 * The folder for a run's data and logs. A new folder is deleted after a successful run; a folder
 * that the user names is kept.
 */
final class RunFolder {
  @FunctionalInterface
  interface Run {
    /** Returns whether the run succeeded. */
    boolean in(Path folder) throws Exception;
  }

  @Option(
      names = "--directory",
      description = "Where the programs keep their data, and their logs (default: a new one).")
  private Path directory;

  /**
   * Runs in the folder.
   *
   * @param name of a new folder
   * @return whether the run succeeded
   */
  boolean run(String name, Run run) throws Exception {
    Path folder =
        directory == null
            ? Files.createTempDirectory("trace-etl-" + name)
            : directory.toAbsolutePath();
    boolean well = false;
    try {
      well = run.in(folder);
      return well;
    } finally {
      if (well && directory == null) {
        delete(folder);
      } else {
        System.err.println("The programs' logs are in " + folder);
      }
    }
  }

  static void delete(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
