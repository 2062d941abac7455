package org.traceetl.perf.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.traceetl.common.Clocks;
import org.traceetl.perf.bench.load.OzheraStream;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.proto.Rejection;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.OzheraProfile;
import org.traceetl.server.ozhera.OzheraRules;
import org.traceetl.server.ozhera.OzheraSeries;
import org.traceetl.server.ozhera.delta.DeltaOptions;
import org.traceetl.server.ozhera.delta.DeltaPages;
import org.traceetl.server.ozhera.delta.positions.ScraperPositions;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.testkit.EmbeddedRocketMq;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Drains a topic of OzHera's messages, one span each. A real RocketMQ in this JVM is filled once.
 * In every round, the server's pipeline in profile {@code ozhera} (pull, decode, map, record, seal,
 * append, fold into deltas) reads the topic from its beginning, with a new journal. The round is
 * timed until the last span is recorded, and counts only if its windows have exactly the spans
 * written. CPU time is separated by thread as in {@link Drain}.
 */
@Command(
    name = "ozhera",
    description = "Measures spans per second drained from a preloaded topic of OzHera's messages.")
public final class OzheraDrain implements Callable<Integer> {
  private static final String TOPIC = "mone_hera_staging_trace_etl_server";
  private static final String JOURNAL_TOPIC = "trace-windows-";
  private static final int DIFFERENT_SPANS = 8_192;
  private static final int SENT_TOGETHER = 64;

  @Mixin private Results results;

  @Option(names = "--spans", description = "Spans in the topic (default: ${DEFAULT-VALUE}).")
  private int spans = 1_500_000;

  @Option(
      names = "--rounds",
      description = "Rounds; the first warms up (default: ${DEFAULT-VALUE}).")
  private int rounds = 5;

  @Option(names = "--applications", description = "Of the spans (default: ${DEFAULT-VALUE}).")
  private int applications = 100;

  @Option(names = "--queues", description = "Queues of the topic (default: ${DEFAULT-VALUE}).")
  private int queues = 4;

  @Option(names = "--workers", description = "Workers of the server (default: ${DEFAULT-VALUE}).")
  private int workers = Runtime.getRuntime().availableProcessors();

  @Option(names = "--window", description = "Window (default: ${DEFAULT-VALUE}).")
  private Duration window = Duration.ofSeconds(2);

  @Option(
      names = "--direct",
      description = "Let the broker answer as for batches: from its page cache, by a call each.")
  private boolean direct;

  @Option(names = "--help", usageHelp = true, description = "Prints this help.")
  private boolean help;

  public static void main(String... arguments) {
    System.exit(new CommandLine(new OzheraDrain()).execute(arguments));
  }

  /**
   * The results of a round.
   *
   * @param cpuNanos by part
   * @param readAgain spans read more than once: the second worker receives queues that the first
   *     has begun to read
   */
  private record Round(
      double seconds,
      double spansPerSecond,
      Map<String, Long> cpuNanos,
      long spans,
      long readAgain,
      int series) {
    double nanosPerSpan(String part) {
      return (double) cpuNanos.getOrDefault(part, 0L) / spans;
    }
  }

  @Override
  public Integer call() throws Exception {
    Path directory = Files.createTempDirectory("trace-etl-ozhera");
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
        "read_again");
    try (EmbeddedRocketMq rocketMq =
        EmbeddedRocketMq.start(directory, new EmbeddedRocketMq.Settings(!direct, null, false))) {
      rocketMq.createTopic(TOPIC, queues);
      long bytes = load(rocketMq);
      List<Round> warm = new ArrayList<>();
      for (int number = 0; number < rounds; number++) {
        rocketMq.createTopic(JOURNAL_TOPIC + number, queues);
        Round round = drain(rocketMq, number);
        results.row(
            number,
            spans,
            round.seconds,
            round.spansPerSecond,
            round.nanosPerSpan(Drain.ALL),
            round.nanosPerSpan(Drain.SERVER),
            round.nanosPerSpan(Drain.CLIENT),
            round.nanosPerSpan(Drain.REST),
            round.nanosPerSpan(Drain.GC),
            round.nanosPerSpan(Drain.COMPILER),
            round.readAgain);
        if (number > 0) {
          warm.add(round);
        }
      }
      if (!warm.isEmpty()) {
        summarise(warm, bytes);
      }
    } finally {
      RunFolder.delete(directory);
    }
    return 0;
  }

  /** Summarises the round with the median speed. */
  private void summarise(List<Round> warm, long bytes) {
    warm.sort(Comparator.comparingDouble(Round::spansPerSecond));
    Round median = warm.get((warm.size() - 1) / 2);
    Map<String, Object> pairs = new LinkedHashMap<>();
    pairs.put("spans_per_second", median.spansPerSecond);
    pairs.put("best_spans_per_second", warm.getLast().spansPerSecond);
    pairs.put("cpu_ns_per_span", median.nanosPerSpan(Drain.ALL));
    for (String part : List.of(Drain.SERVER, Drain.CLIENT, Drain.REST, Drain.GC, Drain.COMPILER)) {
      pairs.put(part + "_cpu_ns_per_span", median.nanosPerSpan(part));
    }
    pairs.put("bytes_per_span", (double) bytes / spans);
    pairs.put("series", median.series);
    results.summary("ozhera", pairs);
  }

  /** Writes each application's spans to two queues, as OzHera's agents do; returns their bytes. */
  private long load(EmbeddedRocketMq rocketMq) throws Exception {
    List<OzheraStream.Span> different = new OzheraStream(7, applications).spans(DIFFERENT_SPANS);
    List<List<byte[]>> waiting = new ArrayList<>();
    for (int queue = 0; queue < queues; queue++) {
      waiting.add(new ArrayList<>());
    }
    long bytes = 0;
    try (TopicWriter writer = new TopicWriter(rocketMq.namesrvAddress(), TOPIC, "ozhera-load")) {
      for (int i = 0; i < spans; i++) {
        OzheraStream.Span span = different.get(i % DIFFERENT_SPANS);
        int queue = (span.application() + i % 2) % queues;
        waiting.get(queue).add(span.message());
        bytes += span.message().length;
        if (waiting.get(queue).size() == SENT_TOGETHER) {
          writer.sendTogether(queue, waiting.get(queue));
          waiting.get(queue).clear();
        }
      }
      for (int queue = 0; queue < queues; queue++) {
        if (!waiting.get(queue).isEmpty()) {
          writer.sendTogether(queue, waiting.get(queue));
        }
      }
      writer.await();
    }
    return bytes;
  }

  private Round drain(EmbeddedRocketMq rocketMq, int number) throws Exception {
    CountDownLatch left = new CountDownLatch(spans);
    Taken taken = new Taken(left);
    Counted counted = new Counted();
    RocketMqConfig rocketMqConfig =
        new RocketMqConfig(
            rocketMq.namesrvAddress(),
            TOPIC,
            "ozhera-" + number,
            null,
            null,
            workers,
            null,
            null,
            "ozhera");
    OzheraConfig ozhera = new OzheraConfig(null, null, null, List.of("prometheus"), null);
    ServerConfig config =
        new ServerConfig(
            rocketMqConfig,
            null,
            new WindowConfig(window, null),
            null,
            null,
            null,
            new MetricsConfig(new OzheraProfile(), null, null, null),
            null,
            Map.of("ozhera", ozhera),
            null,
            null,
            null,
            null);
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(config.series())
            .histogram(config.histogram())
            .documents(config.documents())
            .window(config.window())
            .unit(config.metrics().unit())
            .messages(Messages.of("ozhera"))
            .profile(new OzheraSeries(OzheraRules::defaults))
            .build();
    RocketMqLogs logs =
        new RocketMqLogs(
            rocketMqConfig, JOURNAL_TOPIC + number, Duration.ofSeconds(3), Clocks.SYSTEM);
    logs.start();
    Clock clock = Clock.systemUTC();
    try (LogJournals journals =
            new LogJournals(
                logs,
                TOPIC,
                rocketMqConfig.consumerGroup(),
                aggregation::newImage,
                new JournalTiming(
                    new Clocks(System::nanoTime, clock),
                    new SecureRandom(),
                    config.journal().lease(),
                    config.journal().snapshotInterval()),
                new JournalCounters());
        DeltaPages deltas =
            new DeltaPages(
                new DeltaOptions(
                    ozhera,
                    config.histogram().boundsNanos().length + 1,
                    rocketMqConfig.consumerGroup(),
                    window,
                    Long.MAX_VALUE,
                    Duration.ZERO),
                new NoScrapers(),
                nanos -> {},
                Clocks.SYSTEM)) {
      deltas.start();
      SpanPipeline pipeline =
          new SpanPipeline(
              rocketMqConfig,
              config.journal().lease(),
              config.window(),
              aggregation,
              journals,
              List.of(deltas, counted),
              new Clocks(System::nanoTime, clock),
              taken);
      CpuByPart before = CpuByPart.now();
      pipeline.start();
      while (left.getCount() == spans) {
        left.await(1, TimeUnit.MILLISECONDS);
      }
      long startNanos = System.nanoTime();
      long alreadyTaken = spans - left.getCount();
      boolean all = left.await(10, TimeUnit.MINUTES);
      double seconds = (System.nanoTime() - startNanos) / 1e9;
      Map<String, Long> cpu = CpuByPart.now().since(before);
      int series = pipeline.queues().stream().mapToInt(queue -> queue.series()).sum();
      // Some of the spans that are read again may not be counted yet.
      long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (counted.recorded.get() < spans && System.nanoTime() < deadlineNanos) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
      pipeline.drain(Duration.ofSeconds(30));
      if (!all || taken.refused.get() > 0 || counted.recorded.get() != spans) {
        throw new IllegalStateException(
            String.format(
                "round %d: %d of %d spans recorded, %d refused, %d not read",
                number, counted.recorded.get(), spans, taken.refused.get(), left.getCount()));
      }
      return new Round(
          seconds,
          (spans - alreadyTaken) / seconds,
          cpu,
          spans,
          taken.accepted.get() - spans,
          series);
    }
  }

  /** Counts down accepted spans, and counts refused ones. */
  private static final class Taken extends PipelineMetrics {
    private final CountDownLatch left;
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();

    Taken(CountDownLatch left) {
      this.left = left;
    }

    @Override
    public void accepted(int bytes) {
      accepted.incrementAndGet();
      left.countDown();
    }

    @Override
    public void rejected(int bytes, Rejection reason) {
      refused.incrementAndGet();
    }
  }

  /** Counts the spans of the windows in the journal. */
  private static final class Counted implements WindowFollower {
    private final AtomicLong recorded = new AtomicLong();

    @Override
    public void window(SealedWindow sealed) {
      recorded.addAndGet(sealed.books().stream().mapToLong(Books::recorded).sum());
    }

    @Override
    public void released(QueueId queue) {}
  }

  /** Positions of a topic that was never scraped. */
  private static final class NoScrapers implements ScraperPositions {
    private final Map<String, Long> marks = new ConcurrentHashMap<>();

    @Override
    public long load(QueueId queue, String group) {
      return marks.getOrDefault(queue + " " + group, JournalLog.NONE);
    }

    @Override
    public void store(QueueId queue, String group, long offset) {
      marks.put(queue + " " + group, offset);
    }

    @Override
    public void read(
        QueueId queue,
        long sinceMillis,
        Consumer<QueueImage> snapshots,
        Predicate<SealedWindow> windows) {}
  }
}
