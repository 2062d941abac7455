package org.traceetl.perf.bench.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Linux's counters of a process, read from {@code /proc}: CPU time in steps of 10 ms, memory in
 * KiB.
 */
public final class Usage {
  /** The clock of {@code /proc}, USER_HZ: 100 a second on every Linux that a JVM runs on. */
  private static final long TICK_NANOS = 10_000_000;

  private final Path process;

  public Usage(long pid) {
    process = Path.of("/proc", Long.toString(pid));
  }

  /** Returns the CPU time of the process, including threads that have ended. */
  public long cpuNanos() {
    return cpuNanos(text(process.resolve("stat")));
  }

  /**
   * Returns the CPU time of the living threads.
   *
   * @param part maps a thread's name, cut to 15 characters, to its part
   */
  public Map<String, Long> cpuNanosByPart(UnaryOperator<String> part) {
    Map<String, Long> cpu = new TreeMap<>();
    cpuNanosByThread()
        .values()
        .forEach(thread -> cpu.merge(part.apply(thread.name), thread.cpuNanos, Long::sum));
    return cpu;
  }

  /** Returns the CPU time of each living thread, by its ID. */
  public Map<Long, ThreadTime> cpuNanosByThread() {
    Map<Long, ThreadTime> times = new TreeMap<>();
    try (Stream<Path> threads = Files.list(process.resolve("task"))) {
      for (Path thread : threads.toList()) {
        try {
          String stat = Files.readString(thread.resolve("stat"));
          String name = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
          times.put(
              Long.parseLong(thread.getFileName().toString()),
              new ThreadTime(name, cpuNanos(stat)));
        } catch (NoSuchFileException e) {
          // The thread has ended meanwhile.
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return times;
  }

  /**
   * @param name cut to 15 characters
   */
  public record ThreadTime(String name, long cpuNanos) {}

  private static long cpuNanos(String stat) {
    // The name may contain blanks; the fields after it begin with the state, the third.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * TICK_NANOS;
  }

  /** Returns the resident memory, as {@code ps} shows it. */
  public long residentBytes() {
    return number("status", "VmRSS:") * 1024;
  }

  /** Returns the resident memory without cached files, such as a broker's log. */
  public long anonymousBytes() {
    return number("status", "RssAnon:") * 1024;
  }

  /** Returns the resident memory; shared pages count in part only. */
  public long proportionalBytes() {
    return number("smaps_rollup", "Pss:") * 1024;
  }

  /** Returns the number of living threads. */
  public long threads() {
    return number("status", "Threads:");
  }

  /** Returns the number of open sockets, including those that listen. */
  public long sockets() {
    return descriptors().filter(target -> target.startsWith("socket:")).count();
  }

  /** Returns the number of open files, including sockets and pipes. */
  public long openFiles() {
    return descriptors().count();
  }

  private Stream<String> descriptors() {
    List<String> targets = new ArrayList<>();
    try (Stream<Path> descriptors = Files.list(process.resolve("fd"))) {
      for (Path descriptor : descriptors.toList()) {
        try {
          targets.add(Files.readSymbolicLink(descriptor).toString());
        } catch (NoSuchFileException e) {
          // Closed meanwhile.
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return targets.stream();
  }

  private long number(String file, String name) {
    return text(process.resolve(file))
        .lines()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .findFirst()
        .orElseThrow();
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
