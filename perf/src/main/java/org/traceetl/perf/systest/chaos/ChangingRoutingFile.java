package org.traceetl.perf.systest.chaos;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** The routing file that all agents read while they run. Confined to one thread. */
final class ChangingRoutingFile {
  private static final String USUAL = "queues-per-application: 2\n";
  private static final int ONE_AT_RANDOM_OF = 4;

  private final Path file;

  ChangingRoutingFile(Path file) throws IOException {
    this.file = file;
    restore();
  }

  Path path() {
    return file;
  }

  /** Routes half of the applications to other queues, some at random; repeatable for a seed. */
  void change(int seed) throws IOException {
    write(rules(seed, SpanLoad.SERVICES));
  }

  void restore() throws IOException {
    write(USUAL);
  }

  static String rules(int seed, List<String> services) {
    Random random = new Random(seed);
    List<String> shuffled = new ArrayList<>(services);
    Collections.shuffle(shuffled, random);
    StringBuilder rules = new StringBuilder(USUAL).append("applications:\n");
    for (String service : shuffled.subList(0, (services.size() + 1) / 2)) {
      rules.append(
          String.format(
              Locale.ROOT,
              "  %s: {queues: %d, spread: %s}\n",
              service,
              1 + random.nextInt(ChaosInstallation.QUEUES),
              random.nextInt(ONE_AT_RANDOM_OF) == 0 ? "random" : "series"));
    }
    return rules.toString();
  }

  private void write(String rules) throws IOException {
    replace(file, rules);
  }

  /** Replaces a file at once: no reader sees a part of the content. */
  static void replace(Path file, String content) throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".next");
    Files.writeString(next, content);
    Files.move(next, file, ATOMIC_MOVE);
  }
}
