package org.traceetl.perf.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The machine that a measurement ran on, in one line. */
public final class Machine {
  private Machine() {}

  /** Returns processor, cores, memory, kernel and JVM; without Linux, some are "unknown". */
  public static String describe() {
    return "%s, %d cores, %s of memory, %s %s, Java %s"
        .formatted(
            line("/proc/cpuinfo", "model name"),
            Runtime.getRuntime().availableProcessors(),
            line("/proc/meminfo", "MemTotal").replaceAll("\\s+", " "),
            System.getProperty("os.name"),
            System.getProperty("os.version"),
            System.getProperty("java.runtime.version"));
  }

  private static String line(String file, String name) {
    try (Stream<String> lines = Files.lines(Path.of(file))) {
      return lines
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }
}
