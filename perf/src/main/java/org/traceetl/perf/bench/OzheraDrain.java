package org.traceetl.perf.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.traceetl.common.Clocks;
import org.traceetl.perf.bench.load.OzheraStream;
import org.traceetl.proto.Rejection;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
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
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Drains a topic of OzHera's messages, one span each, which is filled once. Every round reads it
 * from its beginning in profile {@code ozhera}, with a new journal: pull, decode, map, record,
 * seal, append, fold into deltas. A round counts only if its windows have exactly the spans
 * written.
 */
@Command(
    name = "ozhera",
    description = "Measures spans per second drained from a preloaded topic of OzHera's messages.")
final class OzheraDrain extends TopicDrain {
  private static final String TOPIC = "mone_hera_staging_trace_etl_server";
  private static final String JOURNAL_TOPIC = "trace-windows-";
  private static final int DIFFERENT_SPANS = 8_192;
  private static final int SENT_TOGETHER = 64;

  @Option(
      names = "--applications",
      description = "Applications of the spans (default: ${DEFAULT-VALUE}).")
  private int applications = 100;

  @Option(
      names = "--direct",
      description = "Makes the broker send from its page cache, as for batches.")
  private boolean direct;

  private Loaded loaded;

  OzheraDrain() {
    super(1_500_000, 5);
  }

  @Override
  protected void measure() throws Exception {
    measure("ozhera", new EmbeddedRocketMq.Settings(!direct, null, false), "read_again");
  }

  /**
   * Writes each application's spans to two queues, as OzHera's agents do; returns what was written.
   */
  private Loaded load(EmbeddedRocketMq rocketMq) throws Exception {
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
    return new Loaded(spans, spans, bytes);
  }

  /**
   * Drains the topic; the additional value is the spans read more than once, because the second
   * worker receives queues that the first has begun to read.
   */
  @Override
  protected Round drain(EmbeddedRocketMq rocketMq, int number) throws Exception {
    if (loaded == null) {
      rocketMq.createTopic(TOPIC, queues);
      loaded = load(rocketMq);
    }
    rocketMq.createTopic(JOURNAL_TOPIC + number, queues);
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
            new WindowConfig(window, null, null, null, null),
            null,
            null,
            null,
            new MetricsConfig(new OzheraProfile(), null, null, null, null, null, null),
            null,
            Map.of("ozhera", ozhera),
            null,
            null,
            null,
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
    DeltaOptions options =
        new DeltaOptions(
            ozhera,
            config.histogram().boundsNanos().length + 1,
            rocketMqConfig.consumerGroup(),
            window,
            Long.MAX_VALUE,
            Duration.ZERO);
    try (DeltaPages deltas = new DeltaPages(options, new NoScrapers(), nanos -> {}, Clocks.SYSTEM);
        PipelineOnTopic pipeline =
            new PipelineOnTopic(
                rocketMqConfig,
                JOURNAL_TOPIC + number,
                config.window(),
                aggregation,
                List.of(deltas, counted),
                taken)) {
      deltas.start();
      Round round = timed(loaded, left, pipeline);
      // Some of the spans that are read again may not be counted yet.
      long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (counted.recorded.get() < spans && System.nanoTime() < deadlineNanos) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
      pipeline.drain();
      if (taken.refused.get() > 0 || counted.recorded.get() != spans) {
        throw new IllegalStateException(
            "round %d: %d of %d spans recorded, %d refused"
                .formatted(number, counted.recorded.get(), spans, taken.refused.get()));
      }
      return round.with(taken.accepted.get() - spans);
    }
  }

  /** Counts down accepted spans, and counts refused ones. */
  private static final class Taken extends SpanPipelineMetrics {
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
