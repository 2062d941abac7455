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
}
