package org.traceetl.standalone;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs that the tests run. Those that cannot be found fail the test: none is skipped. */
final class RealTools {
  private static final Path CACHE =
      Path.of(System.getProperty("basedir", ".")).toAbsolutePath().resolve("../.cache").normalize();

  private RealTools() {}

  static String prometheus() {
    return find("prometheus", CACHE.resolve("prometheus/usr/bin/prometheus"));
  }

  static String promtool() {
    return find("promtool", CACHE.resolve("prometheus/usr/bin/promtool"));
  }

  /** A Python with the OpenTelemetry SDK. */
  static String python() {
    Path venv = CACHE.resolve("venv/bin/python");
    String python = System.getProperty("traceetl.python", venv.toString());
    if (Files.isExecutable(Path.of(python))) {
      return python;
    }
    throw new IllegalStateException(
        python + " is missing: run bin/verify once, which sets it up, or set traceetl.python");
  }

  private static String find(String name, Path cached) {
    String configured = System.getProperty("traceetl." + name);
    if (configured != null) {
      return configured;
    }
    for (String folder : System.getenv("PATH").split(":", -1)) {
      if (Files.isExecutable(Path.of(folder, name))) {
        return Path.of(folder, name).toString();
      }
    }
    if (Files.isExecutable(cached)) {
      return cached.toString();
    }
    throw new IllegalStateException(
        name + " is not on PATH: run bin/verify once, which fetches it, or install prometheus");
  }

  /** What a program that ended wrote to both outputs. */
  record Result(int exitCode, String output) {}

  /**
   * Runs a program to its end.
   *
   * @param input what it reads from its standard input
   */
  static Result run(List<String> command, byte[] input) throws IOException, InterruptedException {
    Path output = Files.createTempFile("output", ".txt");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      try (var stdin = process.getOutputStream()) {
        stdin.write(input);
      }
      if (!process.waitFor(2, TimeUnit.MINUTES)) {
        process.destroyForcibly();
        throw new IllegalStateException(
            command + " does not end: " + Files.readString(output, StandardCharsets.UTF_8));
      }
      return new Result(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
    } finally {
      Files.delete(output);
    }
  }
}
