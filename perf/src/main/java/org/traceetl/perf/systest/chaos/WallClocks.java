package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.traceetl.testkit.Program;

/**
 * Sets the wall clocks of running programs by libfaketime, which reads the difference from a file.
 * Clocks can be wrong by a constant, drift and step. Elapsed time is unaffected. Thread-safe.
 */
final class WallClocks implements AutoCloseable {
  private static final String LIBRARY = "faketime/libfaketimeMT.so.1";

  /** The directory in which the library leaves two files for each killed process. */
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private static final Pattern LEFT = Pattern.compile("(?:sem\\.)?faketime_[a-z]+_(\\d+)");

  /** How often the files of drifting clocks are written. */
  private static final Duration WRITE_INTERVAL = Duration.ofSeconds(5);

  private static final double NANOS_PER_SECOND = 1e9;

  private final Path library;
  private final Path directory;
  private final long beganNanos = System.nanoTime();
  private final Map<String, Difference> differences = new HashMap<>();
  private final Thread drifting = Thread.ofPlatform().daemon().name("drift").unstarted(this::drift);

  /**
   * The difference of a program's clock from the machine's.
   *
   * @param ahead constant
   * @param drift seconds per second
   * @param step of a fault
   */
  private record Difference(Duration ahead, double drift, Duration step) {
    private double seconds(double run) {
      return ahead.plus(step).toSeconds() + drift * run;
    }
  }

  private WallClocks(Path library, Path directory) {
    this.library = library;
    this.directory = directory;
  }

  /**
   * Finds the library.
   *
   * @param directory receives a file for each program; created if missing
   * @return null if the library is not installed
   */
  static WallClocks find(Path directory) throws IOException {
    for (Path libraries : new Path[] {Path.of("/usr/lib"), Path.of("/usr/lib64")}) {
      if (!Files.isDirectory(libraries)) {
        continue;
      }
      try (Stream<Path> folders = Files.list(libraries)) {
        Path found =
            Stream.concat(Stream.of(libraries), folders)
                .map(folder -> folder.resolve(LIBRARY))
                .filter(Files::exists)
                .findFirst()
                .orElse(null);
        if (found != null) {
          WallClocks clocks = new WallClocks(found, Files.createDirectories(directory));
          clocks.drifting.start();
          return clocks;
        }
      }
    }
    return null;
  }

  /**
   * Returns the environment variables of a program with this name.
   *
   * @param ahead of the machine's clock
   * @param drift seconds per second by which the clock is too fast
   */
  synchronized Map<String, String> environment(String program, Duration ahead, double drift)
      throws IOException {
    differences.put(program, new Difference(ahead, drift, Duration.ZERO));
    write(program);
    return Map.of(
        "LD_PRELOAD",
        library.toString(),
        "FAKETIME_TIMESTAMP_FILE",
        file(program).toString(),
        "FAKETIME_CACHE_DURATION",
        "1",
        "FAKETIME_DONT_FAKE_MONOTONIC",
        "1",
        "DONT_FAKE_MONOTONIC",
        "1",
        // With the fix, each timed wait of a JVM returns at once.
        "FAKETIME_FORCE_MONOTONIC_FIX",
        "0");
  }

  /** Returns whether a running program has loaded the library, so that a step has an effect. */
  boolean canStep(Program program) throws IOException {
    Path maps = Path.of("/proc", Long.toString(program.pid()), "maps");
    return Files.readString(maps, StandardCharsets.ISO_8859_1)
        .contains(library.getFileName().toString());
  }

  /** Steps a program's clock from its usual difference; takes effect within a second. */
  synchronized void step(Program program, Duration step) throws IOException {
    Difference usual = differences.get(program.name());
    differences.put(program.name(), new Difference(usual.ahead, usual.drift, step));
    write(program.name());
  }

  private void drift() {
    try {
      while (true) {
        Thread.sleep(WRITE_INTERVAL);
        writeAll();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private synchronized void writeAll() throws IOException {
    for (String program : differences.keySet()) {
      write(program);
    }
  }

  private void write(String program) throws IOException {
    double run = (System.nanoTime() - beganNanos) / NANOS_PER_SECOND;
    Path next = directory.resolve(program + ".next");
    Files.writeString(
        next, String.format(Locale.ROOT, "%+.3f%n", differences.get(program).seconds(run)));
    Files.move(next, file(program), StandardCopyOption.ATOMIC_MOVE);
  }

  private Path file(String program) {
    return directory.resolve(program);
  }

  /** Deletes the library's files of processes that have ended. */
  @Override
  public void close() throws IOException {
    drifting.interrupt();
    List<Path> left;
    try (Stream<Path> files = Files.list(SHARED_MEMORY)) {
      left = files.filter(WallClocks::isLeft).toList();
    }
    for (Path file : left) {
      Files.deleteIfExists(file);
    }
  }

  private static boolean isLeft(Path file) {
    Matcher name = LEFT.matcher(file.getFileName().toString());
    return name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty();
  }
}
