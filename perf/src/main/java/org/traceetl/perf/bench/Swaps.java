package org.traceetl.perf.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import jdk.jfr.consumer.RecordingStream;
import org.traceetl.perf.load.RenamedBatch;
import org.traceetl.perf.load.SpanStream;
import org.traceetl.perf.process.Usage;
import org.traceetl.perf.report.Results;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.window.QueueId;
import org.traceetl.standalone.EmbeddedRocketMq;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * How long a worker stops at a swap, as a distribution: the server's pipeline on a real RocketMQ in
 * this JVM, a sender that keeps it busy, and windows so short that there are thousands. A pause is
 * what {@code trace_etl_swap_seconds} has: of one queue. A turn is what a worker needs for all of
 * its queues, until their windows are with the sealers. CPU time and the collector's stops tell why
 * one took long.
 */
@Command(
    name = "swaps",
    description = "Measures how long workers stop to swap windows, over thousands of swaps.")
public final class Swaps implements Callable<Integer> {
  private static final String TOPIC = "trace-spans";
  private static final String JOURNAL_TOPIC = "trace-windows";

  /** Odd: so that each of them comes to each queue. */
  private static final int BATCHES = 1_023;

  private static final int MAX_BEHIND = 2_000;
  private static final int AS_FAST_AS_CAN_BE = 0;
  private static final long LIMIT_NANOS = 1_000_000;
  private static final long UNKNOWN = -1;

  @Mixin private Results results;

  @Option(
      names = "--rates",
      split = ",",
      description =
          "Spans sent a second, in phases; 0: as fast as can be (default: ${DEFAULT-VALUE}).")
  private List<Integer> rates = List.of(400_000, AS_FAST_AS_CAN_BE);

  @Option(names = "--phase", description = "Time of a phase (default: ${DEFAULT-VALUE}).")
  private Duration phase = Duration.ofSeconds(40);

  @Option(names = "--queues", description = "Queues of the topic (default: ${DEFAULT-VALUE}).")
  private int queues = 16;

  @Option(names = "--workers", description = "Workers of the server (default: ${DEFAULT-VALUE}).")
  private int workers = Runtime.getRuntime().availableProcessors();

  @Option(names = "--window", description = "Window (default: ${DEFAULT-VALUE}).")
  private Duration window = Duration.ofMillis(250);

  @Option(names = "--help", usageHelp = true, description = "Show this.")
  private boolean help;

  private final Queue<Swap> swaps = new ConcurrentLinkedQueue<>();
  private final Queue<Long> turns = new ConcurrentLinkedQueue<>();
  private final Queue<Stop> stops = new ConcurrentLinkedQueue<>();
  private final AtomicInteger deferred = new AtomicInteger();
  private final AtomicLong taken = new AtomicLong();
  private final Queue<String> refused = new ConcurrentLinkedQueue<>();

  /**
   * A worker's, of one queue.
   *
   * @param ranNanos CPU time of the worker since the swap before, for the listener too; {@link
   *     #UNKNOWN} for the first queue of a worker's turn
   */
  private record Swap(Instant end, long pauseNanos, long ranNanos) {
    Instant start() {
      return end.minusNanos(pauseNanos);
    }

    boolean isLong() {
      return pauseNanos > LIMIT_NANOS;
    }

    /** Whether the worker is known to have had no core for most of it. */
    boolean waited() {
      return ranNanos != UNKNOWN && ranNanos < pauseNanos / 2;
    }
  }

  /** Of all threads, by the collector. */
  private record Stop(Instant start, Instant end) {
    long nanos() {
      return Duration.between(start, end).toNanos();
    }

    boolean overlaps(Swap swap) {
      return start.isBefore(swap.end) && end.isAfter(swap.start());
    }
  }

  private record Load(RenamedBatch batch, int spans) {}

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Swaps()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    results.columns(
        "spans_per_second_sent",
        "spans_per_second",
        "swaps",
        "deferred",
        "p50_us",
        "p99_us",
        "p999_us",
        "max_us",
        "without_gc_p999_us",
        "without_gc_max_us",
        "cpu_p50_us",
        "cpu_p999_us",
        "over_1_ms",
        "over_1_ms_by_gc",
        "over_1_ms_off_cpu",
        "gc_pauses",
        "gc_longest_ms",
        "cpu_ns_per_span",
        "gc_cpu_ns_per_span",
        "anonymous_mb",
        "turns",
        "turn_p50_us",
        "turn_p99_us",
        "turn_p999_us",
        "turn_max_us");
    Path directory = Files.createTempDirectory("trace-etl-swaps");
    Map<String, Object> summary = new LinkedHashMap<>();
    try (EmbeddedRocketMq rocketMq = EmbeddedRocketMq.start(directory);
        RecordingStream stream = new RecordingStream()) {
      rocketMq.createTopic(TOPIC, queues);
      rocketMq.createTopic(JOURNAL_TOPIC, queues);
      stream.enable("jdk.GCPhasePause").withoutThreshold();
      stream.onEvent(
          "jdk.GCPhasePause",
          pause -> stops.add(new Stop(pause.getStartTime(), pause.getEndTime())));
      stream.startAsync();
      try (TopicWriter writer = new TopicWriter(rocketMq.namesrvAddress(), TOPIC, "swaps-load");
          PipelineOnTopic pipeline =
              new PipelineOnTopic(
                  rocketMq.namesrvAddress(), TOPIC, JOURNAL_TOPIC, workers, window, listener())) {
        pipeline.start();
        Sender sender = new Sender(writer, loads());
        // Makes all series, compiles the code.
        sender.send(AS_FAST_AS_CAN_BE, phase.dividedBy(2));
        List<Measured> phases = new ArrayList<>();
        for (int rate : rates) {
          phases.add(measure(sender, rate));
        }
        writer.await();
        // What is still in its buffers comes before this returns.
        stream.stop();
        phases.forEach(measured -> report(measured, summary));
        summary.put("series", pipeline.series());
      }
      if (!refused.isEmpty()) {
        throw new IllegalStateException("batches were refused: " + refused);
      }
    } finally {
      RunFolder.delete(directory);
    }
    results.summary("swaps", summary);
    return 0;
  }

  /** What a phase came to; what the collector did is told later. */
  private record Measured(
      int rate,
      Instant start,
      Instant end,
      double spansPerSecond,
      double cpuNanosPerSpan,
      double gcNanosPerSpan,
      double anonymousMegabytes,
      int deferred,
      List<Swap> swaps,
      long[] turns) {}

  private Measured measure(Sender sender, int rate) throws Exception {
    Usage usage = new Usage(ProcessHandle.current().pid());
    swaps.clear();
    turns.clear();
    deferred.set(0);
    Instant start = Instant.now();
    long cpuNanos = usage.cpuNanos();
    long gcNanos = gcNanos(usage);
    long spans = sender.send(rate, phase);
    Instant end = Instant.now();
    return new Measured(
        rate,
        start,
        end,
        spans * 1e9 / Duration.between(start, end).toNanos(),
        (double) (usage.cpuNanos() - cpuNanos) / spans,
        (double) (gcNanos(usage) - gcNanos) / spans,
        usage.anonymousBytes() / 1e6,
        deferred.get(),
        List.copyOf(swaps),
        turns.stream().mapToLong(nanos -> nanos).sorted().toArray());
  }

  private static long gcNanos(Usage usage) {
    return usage.cpuNanosByPart(Drain::part).getOrDefault(Drain.GC, 0L);
  }

  private void report(Measured phase, Map<String, Object> summary) {
    List<Stop> during =
        stops.stream()
            .filter(stop -> stop.end.isAfter(phase.start) && stop.start.isBefore(phase.end))
            .toList();
    Map<Boolean, List<Swap>> byGc =
        phase.swaps.stream()
            .collect(
                Collectors.partitioningBy(
                    swap -> during.stream().anyMatch(stop -> stop.overlaps(swap))));
    long[] pauses = sorted(phase.swaps, Swap::pauseNanos);
    long[] turns = phase.turns;
    long[] withoutGc = sorted(byGc.get(false), Swap::pauseNanos);
    long[] ran =
        sorted(
            phase.swaps.stream().filter(swap -> swap.ranNanos != UNKNOWN).toList(), Swap::ranNanos);
    results.row(
        phase.rate == AS_FAST_AS_CAN_BE ? "most" : phase.rate,
        phase.spansPerSecond,
        pauses.length,
        phase.deferred,
        quantile(pauses, 0.5),
        quantile(pauses, 0.99),
        quantile(pauses, 0.999),
        quantile(pauses, 1),
        quantile(withoutGc, 0.999),
        quantile(withoutGc, 1),
        quantile(ran, 0.5),
        quantile(ran, 0.999),
        phase.swaps.stream().filter(Swap::isLong).count(),
        byGc.get(true).stream().filter(Swap::isLong).count(),
        byGc.get(false).stream().filter(swap -> swap.isLong() && swap.waited()).count(),
        during.size(),
        during.stream().mapToLong(Stop::nanos).max().orElse(0) / 1e6,
        phase.cpuNanosPerSpan,
        phase.gcNanosPerSpan,
        phase.anonymousMegabytes,
        turns.length,
        quantile(turns, 0.5),
        quantile(turns, 0.99),
        quantile(turns, 0.999),
        quantile(turns, 1));
    String prefix = phase.rate == AS_FAST_AS_CAN_BE ? "most_" : "at_" + phase.rate + "_";
    summary.put(prefix + "spans_per_second", phase.spansPerSecond);
    summary.put(prefix + "swaps", pauses.length);
    summary.put(prefix + "swap_p50_us", quantile(pauses, 0.5));
    summary.put(prefix + "swap_p99_us", quantile(pauses, 0.99));
    summary.put(prefix + "swap_p999_us", quantile(pauses, 0.999));
    summary.put(prefix + "swap_max_us", quantile(pauses, 1));
    summary.put(prefix + "swap_without_gc_p999_us", quantile(withoutGc, 0.999));
    summary.put(prefix + "turn_p50_us", quantile(turns, 0.5));
    summary.put(prefix + "turn_p999_us", quantile(turns, 0.999));
  }

  private static long[] sorted(List<Swap> swaps, ToLongFunction<Swap> part) {
    return swaps.stream().mapToLong(part).sorted().toArray();
  }

  /** In microseconds. */
  private static double quantile(long[] sortedNanos, double share) {
    return Drain.quantile(sortedNanos, share) / 1e3;
  }

  private static List<Load> loads() {
    List<Load> loads = new ArrayList<>();
    SpanBatchReader reader = new SpanBatchReader();
    for (byte[] message : new SpanStream(7, 30, 50).batches(BATCHES, 256, 768)) {
      reader.wrap(message, 0, message.length);
      loads.add(new Load(new RenamedBatch(message), reader.spanCount()));
    }
    return loads;
  }

  /** Sends until told to end, on the caller's thread. */
  private final class Sender {
    private final TopicWriter writer;
    private final List<Load> loads;
    private long sent;

    Sender(TopicWriter writer, List<Load> loads) {
      this.writer = writer;
      this.loads = loads;
    }

    /** Spans sent; all but the last batches are recorded. */
    long send(int rate, Duration time) throws Exception {
      long startNanos = System.nanoTime();
      long endNanos = startNanos + time.toNanos();
      long spans = 0;
      while (System.nanoTime() - endNanos < 0) {
        Load load = loads.get((int) (sent % loads.size()));
        long dueNanos =
            rate == AS_FAST_AS_CAN_BE ? startNanos : startNanos + spans * 1_000_000_000L / rate;
        while (System.nanoTime() - dueNanos < 0 || sent - taken.get() > MAX_BEHIND) {
          LockSupport.parkNanos(100_000);
        }
        // Batches of a queue have numbers without gaps, as an agent gives them.
        writer.send((int) (sent % queues), load.batch.named(sent / queues).clone());
        spans += load.spans;
        sent++;
      }
      return spans;
    }
  }

  private PipelineMetrics listener() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    // By worker: its CPU time when it had swapped a queue, if it has recorded nothing since.
    ThreadLocal<long[]> cpuNanos = ThreadLocal.withInitial(() -> new long[] {UNKNOWN});
    return new PipelineMetrics() {
      @Override
      public void accepted(int bytes) {
        cpuNanos.get()[0] = UNKNOWN;
        taken.incrementAndGet();
      }

      @Override
      public void rejected(int bytes, Rejection reason) {
        refused.add(reason.label());
      }

      @Override
      public void paused(long nanos) {
        turns.add(nanos);
      }

      @Override
      public void swapDeferred(QueueId queue) {
        deferred.incrementAndGet();
      }

      @Override
      public void swapped(QueueId queue, long pauseNanos) {
        Instant end = Instant.now();
        long[] before = cpuNanos.get();
        long nowNanos = threads.getCurrentThreadCpuTime();
        swaps.add(new Swap(end, pauseNanos, before[0] == UNKNOWN ? UNKNOWN : nowNanos - before[0]));
        before[0] = threads.getCurrentThreadCpuTime();
      }
    };
  }
}
