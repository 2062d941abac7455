package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.traceetl.testkit.Program;

/**
 * Steps the wall clocks of running programs by libfaketime, which reads the step from a file.
 * Elapsed time is unaffected.
 */
final class WallClocks implements AutoCloseable {
  private static final String LIBRARY = "faketime/libfaketimeMT.so.1";

  /** The directory in which the library leaves two files for each killed process. */
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private static final Pattern LEFT = Pattern.compile("(?:sem\\.)?faketime_[a-z]+_(\\d+)");

  private final Path library;
  private final Path directory;

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
          return new WallClocks(found, Files.createDirectories(directory));
        }
      }
    }
    return null;
  }

  /** Returns the environment variables of a program with this name. */
  Map<String, String> environment(String program) throws IOException {
    step(program, Duration.ZERO);
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

  /** Sets a program's clock ahead of the machine's; takes effect within a second. */
  void step(Program program, Duration ahead) throws IOException {
    step(program.name(), ahead);
  }

  private void step(String program, Duration ahead) throws IOException {
    Path next = directory.resolve(program + ".next");
    Files.writeString(next, (ahead.isNegative() ? "" : "+") + ahead.toSeconds() + "\n");
    Files.move(next, file(program), StandardCopyOption.ATOMIC_MOVE);
  }

  private Path file(String program) {
    return directory.resolve(program);
  }

  /** Deletes the library's files of processes that have ended. */
  @Override
  public void close() throws IOException {
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
