package org.traceetl.perf.process;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * CPU time of this process by part: Java threads by a rule on their names, and the JVM's own
 * threads as {@link #GC} and {@link #COMPILER}. Threads that ended meanwhile, and the rest of the
 * JVM's, are in {@link #ALL} alone. The JVM's own are told on Linux only.
 */
public final class CpuClock {
  /** All of the process. */
  public static final String ALL = "all";

  /** The garbage collector's threads. */
  public static final String GC = "gc";

  /** The just-in-time compilers' threads. */
  public static final String COMPILER = "compiler";

  private static final Path TASKS = Path.of("/proc/self/task");

  private CpuClock() {}

  /**
   * CPU nanoseconds so far, by part.
   *
   * @param part of a Java thread's name
   */
  public static Map<String, Long> read(UnaryOperator<String> part) throws IOException {
    Map<String, Long> cpu = new TreeMap<>();
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (thread != null) {
        long nanos = threads.getThreadCpuTime(thread.getThreadId());
        cpu.merge(part.apply(thread.getThreadName()), Math.max(0, nanos), Long::sum);
      }
    }
    readNative(cpu);
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    cpu.put(ALL, system.getProcessCpuTime());
    return cpu;
  }

  private static void readNative(Map<String, Long> cpu) throws IOException {
    if (!Files.isDirectory(TASKS)) {
      return;
    }
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
      for (Path task : tasks) {
        try {
          String part = nativePart(Files.readString(task.resolve("comm")));
          if (part != null) {
            String spent = Files.readString(task.resolve("schedstat")).split(" ", 2)[0];
            cpu.merge(part, Long.parseLong(spent), Long::sum);
          }
        } catch (IOException e) {
          continue; // the thread has ended
        }
      }
    }
  }

  private static String nativePart(String name) {
    if (name.startsWith("C1 ") || name.startsWith("C2 ")) {
      return COMPILER;
    }
    // Serial collects in the VM's own thread.
    return name.matches("(?s)(GC |G1 |ZWorker|ZDriver|ZDirector|ZUnmapper|Shenandoah|VM Thread).*")
        ? GC
        : null;
  }
}
