package org.traceetl.perf.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.bench.load.RenamedBatch;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.EmbeddedRocketMq;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Drains a preloaded topic. A real RocketMQ in this JVM is filled with batches. Then the server's
 * pipeline (pull, decode, record, seal, append, fold, render) starts, and is timed until the last
 * batch is recorded. CPU time is separated by thread; the JVM's own threads have their own parts.
 */
@Command(
    name = "drain",
    description = "Measures spans per second drained from a preloaded RocketMQ topic.")
public final class Drain implements Callable<Integer> {
  private static final String TOPIC = "trace-spans";
  private static final String JOURNAL_TOPIC = "trace-windows";

  static final String ALL = "all";
  static final String SERVER = "server";
  static final String CLIENT = "client";
  static final String GC = "gc";
  static final String COMPILER = "compiler";
  static final String REST = "broker_and_rest";

  /**
   * Prefixes of thread names by part, cut to 15 characters. The threads of queues are virtual; the
   * pool carries them. The broker in this JVM has similar names: PullMessageThread_,
   * LitePullMessageThread_, PullRequestHoldService.
   */
  private static final Map<String, List<String>> PARTS =
      Map.of(
          SERVER, List.of("trace-etl", "fold", "ForkJoinPool-1-"),
          CLIENT, List.of("NettyClient", "PullMsgThread", "PullMessageServ"),
          GC, List.of("GC Thread", "G1 ", "ZDriver", "ZWorker", "Shenandoah", "VM Thread"),
          COMPILER, List.of("C1 Compiler", "C2 Compiler"));

  @Mixin private Results results;

  @Option(names = "--spans", description = "Spans in a round (default: ${DEFAULT-VALUE}).")
  private int spans = 5_000_000;

  @Option(
      names = "--rounds",
      description = "Rounds; the first warms up (default: ${DEFAULT-VALUE}).")
  private int rounds = 4;

  @Option(names = "--queues", description = "Queues of the topic (default: ${DEFAULT-VALUE}).")
  private int queues = 4;

  @Option(names = "--workers", description = "Workers of the server (default: ${DEFAULT-VALUE}).")
  private int workers = Runtime.getRuntime().availableProcessors();

  @Option(names = "--window", description = "Window (default: ${DEFAULT-VALUE}).")
  private Duration window = Duration.ofSeconds(2);

  @Option(names = "--help", usageHelp = true, description = "Prints this help.")
  private boolean help;

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Drain()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    Path directory = Files.createTempDirectory("trace-etl-drain");
    List<RenamedBatch> batches =
        new SpanStream(7, 30, 50).batches(1_024, 256, 768).stream().map(RenamedBatch::new).toList();
    results.columns(
        "round",
        "spans",
        "seconds",
        "spans_per_second",
        "cpu_ns_per_span",
        "server_cpu_ns_per_span",
        "client_cpu_ns_per_span",
        "broker_and_rest_cpu_ns_per_span",
        "gc_cpu_ns_per_span",
        "compiler_cpu_ns_per_span",
        "swaps",
        "swap_p999_us",
        "swap_max_us");
    try (EmbeddedRocketMq rocketMq = EmbeddedRocketMq.start(directory)) {
      rocketMq.createTopic(TOPIC, queues);
      rocketMq.createTopic(JOURNAL_TOPIC, queues);
      List<Round> warm = new ArrayList<>();
      long firstSequence = 0;
      for (int round = 0; round < rounds; round++) {
        Loaded loaded = load(rocketMq, batches, firstSequence);
        firstSequence += loaded.messages;
        Round result = drain(rocketMq, loaded);
        results.row(
            round,
            loaded.spans,
            result.seconds,
            result.spansPerSecond,
            result.nanosPerSpan(ALL),
            result.nanosPerSpan(SERVER),
            result.nanosPerSpan(CLIENT),
            result.nanosPerSpan(REST),
            result.nanosPerSpan(GC),
            result.nanosPerSpan(COMPILER),
            result.swapNanos.length,
            quantile(result.swapNanos, 0.999) / 1e3,
            quantile(result.swapNanos, 1) / 1e3);
        if (round > 0) {
          warm.add(result);
        }
      }
      if (!warm.isEmpty()) {
        summarise(warm);
      }
    } finally {
      RunFolder.delete(directory);
    }
    return 0;
  }

  /** Summarises the round with the median speed, and the swaps of all rounds except the first. */
  private void summarise(List<Round> warm) {
    warm.sort(Comparator.comparingDouble(Round::spansPerSecond));
    Round median = warm.get((warm.size() - 1) / 2);
    long[] swaps = warm.stream().flatMapToLong(round -> Arrays.stream(round.swapNanos)).toArray();
    Arrays.sort(swaps);
    Map<String, Object> pairs = new LinkedHashMap<>();
    pairs.put("spans_per_second", median.spansPerSecond);
    pairs.put("best_spans_per_second", warm.getLast().spansPerSecond);
    pairs.put("cpu_ns_per_span", median.nanosPerSpan(ALL));
    for (String part : List.of(SERVER, CLIENT, REST, GC, COMPILER)) {
      pairs.put(part + "_cpu_ns_per_span", median.nanosPerSpan(part));
    }
    pairs.put("swaps", swaps.length);
    pairs.put("swap_p999_us", quantile(swaps, 0.999) / 1e3);
    pairs.put("swap_max_us", quantile(swaps, 1) / 1e3);
    pairs.put("bytes_per_span", (double) median.loaded.bytes / median.loaded.spans);
    pairs.put("series", median.series);
    results.summary("drain", pairs);
  }

  /** Returns a quantile of sorted values, or 0 if there are none. */
  static long quantile(long[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
  }

  private record Loaded(int messages, long spans, long bytes) {}

  /**
   * The results of a round.
   *
   * @param cpuNanos by part
   * @param swapNanos how long the workers stopped at each swap, sorted
   */
  private record Round(
      Loaded loaded,
      double seconds,
      double spansPerSecond,
      Map<String, Long> cpuNanos,
      long[] swapNanos,
      int series) {
    double nanosPerSpan(String part) {
      return (double) cpuNanos.getOrDefault(part, 0L) / loaded.spans;
    }
  }

  private Loaded load(EmbeddedRocketMq rocketMq, List<RenamedBatch> batches, long firstSequence)
      throws Exception {
    int messages = 0;
    long loaded = 0;
    long bytes = 0;
    SpanBatchReader reader = new SpanBatchReader();
    try (TopicWriter writer =
        new TopicWriter(rocketMq.namesrvAddress(), TOPIC, "drain-load-" + firstSequence)) {
      while (loaded < spans) {
        byte[] body =
            batches.get(messages % batches.size()).named(firstSequence + messages).clone();
        reader.wrap(body, 0, body.length);
        loaded += reader.spanCount();
        bytes += body.length;
        writer.send(messages, body);
        messages++;
      }
      writer.await();
    }
    return new Loaded(messages, loaded, bytes);
  }

  private Round drain(EmbeddedRocketMq rocketMq, Loaded loaded) throws Exception {
    CountDownLatch left = new CountDownLatch(loaded.messages);
    Queue<Long> swaps = new ConcurrentLinkedQueue<>();
    List<String> refused = new ArrayList<>();
    PipelineMetrics listener =
        new PipelineMetrics() {
          @Override
          public void accepted(int bytes) {
            left.countDown();
          }

          @Override
          public void rejected(int bytes, Rejection reason) {
            synchronized (refused) {
              refused.add(reason.label());
            }
          }

          @Override
          public void swapped(QueueId queue, long pauseNanos) {
            swaps.add(pauseNanos);
          }
        };
    try (PipelineOnTopic pipeline =
        new PipelineOnTopic(
            rocketMq.namesrvAddress(), TOPIC, JOURNAL_TOPIC, workers, window, listener)) {
      CpuByPart before = CpuByPart.now();
      pipeline.start();
      while (left.getCount() == loaded.messages) {
        left.await(1, TimeUnit.MILLISECONDS);
      }
      long startNanos = System.nanoTime();
      long alreadyTaken = loaded.messages - left.getCount();
      if (!left.await(10, TimeUnit.MINUTES) || !refused.isEmpty()) {
        throw new IllegalStateException(left.getCount() + " batches missing; refused: " + refused);
      }
      double seconds = (System.nanoTime() - startNanos) / 1e9;
      CpuByPart after = CpuByPart.now();
      double share = 1 - (double) alreadyTaken / loaded.messages;
      return new Round(
          loaded,
          seconds,
          loaded.spans * share / seconds,
          after.since(before),
          swaps.stream().mapToLong(nanos -> nanos).sorted().toArray(),
          pipeline.series());
    }
  }

  /** Returns the part of a thread, by its name cut to 15 characters. */
  static String part(String thread) {
    return PARTS.entrySet().stream()
        .filter(part -> part.getValue().stream().anyMatch(thread::startsWith))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(REST);
  }
}
