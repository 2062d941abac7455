package org.traceetl.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Programs of this machine that tests run. */
public final class Programs {
  /**
   * Options of a JVM that lives for seconds. The second compiler and the threads of a parallel
   * collector would take more of its processors' time than they save.
   */
  public static final List<String> SHORT_LIVED_JVM =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  private Programs() {}

  /**
   * Finds a program: in the system property {@code traceetl.NAME}, on the PATH, or in {@code
   * .cache} of the checkout. Prints the result, so that no test is skipped silently.
   */
  public static Optional<Path> find(String name) {
    String configured = System.getProperty("traceetl." + name);
    Stream<Path> candidates =
        configured != null
            ? Stream.of(Path.of(configured))
            : Stream.concat(
                Stream.of(System.getenv("PATH").split(":", -1))
                    .map(folder -> Path.of(folder, name)),
                cached(name).stream());
    Optional<Path> found = candidates.filter(Files::isExecutable).findFirst();
    System.out.println(
        found
            .map(path -> "Real component: " + name + ", " + path)
            .orElse("NOT RUN: " + name + " is neither on the PATH nor named by traceetl." + name));
    return found;
  }

  private static List<Path> cached(String name) {
    return caches().map(cache -> cache.resolve("prometheus/usr/bin").resolve(name)).toList();
  }

  /** Returns the folders {@code .cache} of this module and its parents. */
  private static Stream<Path> caches() {
    Path module = Path.of(System.getProperty("basedir", ".")).toAbsolutePath().normalize();
    return Stream.iterate(module, Objects::nonNull, Path::getParent)
        .map(folder -> folder.resolve(".cache"));
  }

  /** Finds a program like {@link #find}, for tests that fail without it. */
  public static String require(String name) {
    return find(name)
        .map(Path::toString)
        .orElseThrow(() ->
            new IllegalStateException(
                name
                    + " is missing: run bin/verify once, which fetches it, install it, or set"
                    + " traceetl."
                    + name));
  }

  /** Returns a Python with the OpenTelemetry SDK and instrumentations. */
  public static String python() {
    return Stream.concat(
            Stream.ofNullable(System.getProperty("traceetl.python")).map(Path::of),
            caches().map(cache -> cache.resolve("venv/bin/python")))
        .filter(Files::isExecutable)
        .findFirst()
        .map(Path::toString)
        .orElseThrow(() ->
            new IllegalStateException(
                ".cache/venv/bin/python is missing: run bin/verify once, which sets it up, or set"
                    + " traceetl.python"));
  }

  /** The exit code of a program and its combined output. */
  public record Result(int exitCode, String output) {}

  /**
   * Runs a program to its end.
   *
   * @param input for its standard input
   */
  public static Result run(List<String> command, byte[] input)
      throws IOException, InterruptedException {
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
