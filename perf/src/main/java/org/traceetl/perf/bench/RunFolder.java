package org.traceetl.perf.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/**
 * Where the programs of a run keep their data and logs: a folder of its own, which leaves with a
 * run that went well, or the one that is asked for, which stays.
 */
final class RunFolder {
  /** A run. */
  @FunctionalInterface
  interface Run {
    /** Whether it went well. */
    boolean in(Path folder) throws Exception;
  }

  @Option(
      names = "--directory",
      description = "Where the programs keep their data, and their logs (default: a new one).")
  private Path directory;

  /**
   * Runs.
   *
   * @param name of a new folder
   * @return whether the run went well
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

  /** Deletes a folder with all that is in it. */
  static void delete(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
