package org.traceetl.perf.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.io.file.PathUtils;
import picocli.CommandLine.Option;

/**
 * The folder for a run's data and logs; a group of arguments. A new folder is deleted after a
 * successful run; a folder that the user names is kept.
 */
public class RunFolder {
  /** A measurement in a folder. */
  @FunctionalInterface
  public interface Run {
    void in(Path folder) throws Exception;
  }

  /** A measurement in a folder, with a directory of rings. */
  @FunctionalInterface
  public interface RunWithRings {
    void in(Path folder, Path rings) throws Exception;
  }

  private static final Path TMPFS = Path.of("/dev/shm");

  @Option(
      names = "--directory",
      description = "Directory for the programs' data and logs; is kept (default: a new one).")
  private Path directory;

  /**
   * Runs in the folder.
   *
   * @param name of a new folder
   */
  public final void run(String name, Run run) throws Exception {
    Path folder =
        directory == null
            ? Files.createTempDirectory("trace-etl-" + name)
            : Files.createDirectories(directory.toAbsolutePath());
    boolean succeeded = false;
    try {
      run.in(folder);
      succeeded = true;
    } finally {
      if (succeeded && directory == null) {
        PathUtils.deleteDirectory(folder);
      } else {
        System.err.println("The programs' logs are in " + folder);
      }
    }
  }

  /**
   * Runs in the folder, with a directory of rings on tmpfs that an agent will create.
   *
   * @param name of a new folder
   */
  public final void runWithRings(String name, RunWithRings run) throws Exception {
    run(
        name,
        folder -> {
          Path parent = Files.createTempDirectory(TMPFS, "trace-etl-" + name);
          try {
            run.in(folder, parent.resolve("rings"));
          } finally {
            PathUtils.deleteDirectory(parent);
          }
        });
  }
}
