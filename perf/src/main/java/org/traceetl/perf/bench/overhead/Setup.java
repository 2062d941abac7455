package org.traceetl.perf.bench.overhead;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.traceetl.perf.bench.RunFolder;
import picocli.CommandLine.Option;

/** The external programs of the measurements; a group of arguments. */
final class Setup extends RunFolder {
  @Option(
      names = "--python",
      paramLabel = "FILE",
      description = "A Python with perf/overhead/requirements.txt (default: ${DEFAULT-VALUE}).")
  private Path python = Path.of(".cache", "overhead", "venv", "bin", "python");

  @Option(
      names = "--seed",
      description = "Seed of the order of rounds (default: ${DEFAULT-VALUE}).")
  private long seed = 7;

  private Random random;

  @Option(
      names = "--receiver-core",
      description =
          "The core that the receiver is pinned to; -1: none (default: ${DEFAULT-VALUE}).")
  private int receiverCore = 1;

  @FunctionalInterface
  interface WithReceiver {
    void with(Path folder, Receiver receiver) throws Exception;
  }

  Path python() {
    return python.toAbsolutePath();
  }

  /** Returns the items in the random order of the next round. */
  <T> List<T> shuffled(List<T> items) {
    if (random == null) {
      random = new Random(seed);
    }
    List<T> shuffled = new ArrayList<>(items);
    Collections.shuffle(shuffled, random);
    return shuffled;
  }

  /** Runs a measurement with a receiver and a log folder, which a successful run deletes. */
  void runWithReceiver(String name, WithReceiver measurement) throws Exception {
    runWithRings(
        "overhead-" + name,
        (folder, rings) -> {
          try (Receiver receiver =
              new Receiver(rings, receiverCore, folder.resolve("receiver.log"))) {
            measurement.with(folder, receiver);
          }
        });
  }
}
