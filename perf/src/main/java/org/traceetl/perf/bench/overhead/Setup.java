package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** The external programs of the measurements; a group of arguments. */
final class Setup {
  private static final Path TMPFS = Path.of("/dev/shm");

  @Option(
      names = "--python",
      paramLabel = "FILE",
      description = "A Python with perf/overhead/requirements.txt (default: ${DEFAULT-VALUE}).")
  private Path python = Path.of(".cache", "overhead", "venv", "bin", "python");

  @Option(names = "--seed", description = "Of the order of rounds (default: ${DEFAULT-VALUE}).")
  private long seed = 7;

  @Option(
      names = "--receiver-core",
      description =
          "The core that the receiver is pinned to; -1: none (default: ${DEFAULT-VALUE}).")
  private int receiverCore = 1;

  @Option(names = "--keep", description = "Keep the logs of the programs, and say where.")
  private boolean keep;

  @Option(names = "--help", usageHelp = true, description = "Prints this help.")
  private boolean help;

  @FunctionalInterface
  interface Measurement {
    void with(Path folder, Receiver receiver) throws Exception;
  }

  Path python() {
    return python.toAbsolutePath();
  }

  long seed() {
    return seed;
  }

  /** A measurement with directories for logs and rings. */
  @FunctionalInterface
  interface InDirectories {
    void in(Path folder, Path rings) throws Exception;
  }

  /** Runs a measurement with a receiver and a log folder, which a successful run deletes. */
  void run(String name, Measurement measurement) throws Exception {
    runWithRings(
        name,
        (folder, rings) -> {
          try (Receiver receiver =
              new Receiver(rings, receiverCore, folder.resolve("receiver.log"))) {
            measurement.with(folder, receiver);
          }
        });
  }

  /** Runs a measurement with a log folder and a directory of rings without a reader. */
  void runWithRings(String name, InDirectories measurement) throws Exception {
    Path folder = Files.createTempDirectory("trace-etl-overhead-" + name);
    Path parent = Files.createTempDirectory(TMPFS, "trace-etl-overhead");
    boolean well = false;
    try {
      measurement.in(folder, parent.resolve("rings"));
      well = true;
    } finally {
      delete(parent);
      if (well && !keep) {
        delete(folder);
      } else {
        System.err.println("The programs' logs are in " + folder);
      }
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
