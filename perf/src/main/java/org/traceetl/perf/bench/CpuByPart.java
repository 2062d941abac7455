package org.traceetl.perf.bench;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.traceetl.perf.bench.process.Usage;

/** The CPU time of this process by the parts of {@link Drain}. */
record CpuByPart(long allNanos, Map<Long, Usage.ThreadTime> byThread) {
  static CpuByPart now() {
    Usage usage = new Usage(ProcessHandle.current().pid());
    return new CpuByPart(usage.cpuNanos(), usage.cpuNanosByThread());
  }

  /**
   * Returns the CPU time by part since {@code before}; other threads count as the broker's. It
   * subtracts thread by thread: the load's threads end during the drain, and a difference of sums
   * would include them.
   */
  Map<String, Long> since(CpuByPart before) {
    Map<String, Long> spent = new TreeMap<>();
    byThread.forEach((number, thread) -> {
      Usage.ThreadTime then = before.byThread.get(number);
      spent.merge(
          Drain.part(thread.name()),
          thread.cpuNanos() - (then == null ? 0 : then.cpuNanos()),
          Long::sum);
    });
    long all = allNanos - before.allNanos;
    long others =
        Stream.of(Drain.SERVER, Drain.CLIENT, Drain.GC, Drain.COMPILER)
            .mapToLong(part -> spent.getOrDefault(part, 0L))
            .sum();
    spent.put(Drain.ALL, all);
    spent.put(Drain.REST, all - others);
    return spent;
  }
}
