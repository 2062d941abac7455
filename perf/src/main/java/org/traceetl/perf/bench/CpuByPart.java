package org.traceetl.perf.bench;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.perf.bench.process.Usage;

/** The CPU time of this process by part, with a broker and a server in it. */
record CpuByPart(long allNanos, Map<Long, Usage.ThreadTime> byThread) {
  static final String ALL = "all";
  private static final String REST = "broker_and_rest";

  /** The parts in the order of their columns. */
  static final List<String> PARTS = List.of("server", "client", REST, "gc", "compiler");

  /**
   * Prefixes of thread names by part, cut to 15 characters. The threads of queues are virtual; the
   * pool carries them. The broker in this JVM has similar names: PullMessageThread_,
   * LitePullMessageThread_, PullRequestHoldService.
   */
  private static final Map<String, List<String>> PREFIXES =
      Map.of(
          "server", List.of("trace-etl", "fold", "ForkJoinPool-1-"),
          "client", List.of("NettyClient", "PullMsgThread", "PullMessageServ"),
          "gc", List.of("GC Thread", "G1 ", "ZDriver", "ZWorker", "Shenandoah", "VM Thread"),
          "compiler", List.of("C1 Compiler", "C2 Compiler"));

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
          part(thread.name()), thread.cpuNanos() - (then == null ? 0 : then.cpuNanos()), Long::sum);
    });
    spent.remove(REST);
    long all = allNanos - before.allNanos;
    long others = spent.values().stream().mapToLong(nanos -> nanos).sum();
    spent.put(ALL, all);
    spent.put(REST, all - others);
    return spent;
  }

  private static String part(String thread) {
    return PREFIXES.entrySet().stream()
        .filter(part -> part.getValue().stream().anyMatch(thread::startsWith))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(REST);
  }
}
