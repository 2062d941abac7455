package org.traceetl.perf.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.traceetl.common.Clocks;
import org.traceetl.perf.bench.load.AgentLoad;
import org.traceetl.perf.bench.load.ExportLoad;
import org.traceetl.perf.bench.load.RenamedBatch;
import org.traceetl.perf.bench.load.RenumberedExport;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.perf.bench.report.Durations;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.EmbeddedRocketMq;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Drains a topic that each round fills with batches: pull, decode, record, seal, append, fold, and
 * render an OpenMetrics page at every window.
 */
@Command(
    name = "drain",
    description = "Measures spans per second drained from a preloaded RocketMQ topic.")
final class Drain extends TopicDrain {
  private static final String TOPIC = "trace-spans";
  private static final String JOURNAL_TOPIC = "trace-windows";
  private static final Duration FIRST_PAGE = Duration.ofSeconds(10);

  private static final int BATCHES = 1_024;
  private static final int MIN_ROUNDS_ASKED = 4;

  @Option(
      names = "--detail",
      paramLabel = "full|demand",
      converter = Detail.Converter.class,
      description =
          "What the batches have of a span: all, or what a server demands"
              + " (default: ${DEFAULT-VALUE}).")
  private Detail detail = Detail.FULL;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description =
          "Sends N spans a second while the server reads; by default, and with 0, the topic is full"
              + " before.")
  private long rate;

  @Option(
      names = "--ask",
      description =
          "In every second round, asks /api/why again and again about 6,000,000 spans of another"
              + " topic.")
  private boolean asks;

  @Option(
      names = "--every",
      paramLabel = "SECONDS",
      description =
          "With --ask, begins a question at most this often; by default, and with 0, the next one"
              + " follows at once.")
  private int everySeconds;

  private List<Message> batches;

  /** Null without {@code --ask}. */
  private Questions questions;

  /** Spans per second of the rounds with questions and of those without, except the first two. */
  private final List<Double> asked = new ArrayList<>();

  private final List<Double> unasked = new ArrayList<>();

  /**
   * A batch to send.
   *
   * @param spans that it counts
   */
  private record Message(RenamedBatch batch, int spans) {}

  /** How long the workers stopped at each swap, by round. */
  private final List<Durations> swaps = new ArrayList<>();

  private long sequence;

  Drain() {
    super(5_000_000, 4);
  }

  @Override
  protected void measure() throws Exception {
    if (asks && rounds < MIN_ROUNDS_ASKED) {
      throw new IllegalArgumentException(
          "--rounds="
              + rounds
              + " must be at least "
              + MIN_ROUNDS_ASKED
              + " with --ask: two warm up, and two are compared");
    }
    batches = detail == Detail.FULL ? full() : demanded();
    measure(
        "drain",
        new EmbeddedRocketMq.Settings(false, null, false),
        "swaps swap_p999_us swap_max_us answers");
  }

  @Override
  protected Map<String, Object> more() {
    Durations all = Durations.of(swaps.subList(1, swaps.size()));
    Map<String, Object> pairs = new LinkedHashMap<>();
    pairs.put("detail", detail);
    pairs.put("swaps", all.count());
    pairs.put("swap_p999_us", micros(all, 99.9));
    pairs.put("swap_max_us", micros(all, 100));
    if (asks) {
      pairs.put("spans_per_second_asked", Results.median(asked, speed -> speed));
      pairs.put("spans_per_second_unasked", Results.median(unasked, speed -> speed));
      pairs.put("answers", questions.answers());
      pairs.put("answers_complete", questions.completeShare());
      pairs.put("answer_seconds", questions.medianSeconds());
      pairs.put("answer_seconds_max", questions.maxSeconds());
    }
    return pairs;
  }

  private static List<Message> full() {
    SpanBatchReader reader = new SpanBatchReader();
    List<Message> all = new ArrayList<>();
    for (byte[] batch : new SpanStream(7, 30, 50).batches(BATCHES, 256, 768)) {
      reader.wrap(batch, 0, batch.length);
      all.add(new Message(new RenamedBatch(batch), reader.spanCount()));
    }
    return all;
  }

  /** Returns what an agent sends of its second round of requests, within an exemplar interval. */
  private static List<Message> demanded() throws IOException {
    List<RenumberedExport> requests = ExportLoad.realisticRequests(BATCHES);
    int round = requests.stream().mapToInt(RenumberedExport::spans).sum();
    try (AgentLoad agent = new AgentLoad(requests)) {
      agent.demand();
      agent.take(round);
      return agent.batches(round).stream()
          .map(made -> new Message(new RenamedBatch(made.body()), made.spans()))
          .toList();
    }
  }

  private static double micros(Durations durations, double percent) {
    return durations.percentile(percent) / 1e3;
  }

  @Override
  protected Round drain(EmbeddedRocketMq rocketMq, int number) throws Exception {
    rocketMq.createTopic(TOPIC, queues);
    rocketMq.createTopic(JOURNAL_TOPIC, queues);
    if (asks && questions == null) {
      questions = new Questions(rocketMq, queues, Duration.ofSeconds(everySeconds));
    }
    Loaded loaded = toLoad();
    FutureTask<Void> loading =
        new FutureTask<>(() -> {
          load(rocketMq);
          return null;
        });
    if (rate <= 0) {
      loading.run();
      loading.get();
    }
    CountDownLatch left = new CountDownLatch(loaded.messages());
    Durations pauses = new Durations();
    swaps.add(pauses);
    List<String> refused = new ArrayList<>();
    SpanPipelineMetrics listener =
        new SpanPipelineMetrics() {
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
            pauses.add(pauseNanos);
          }
        };
    RocketMqConfig config =
        new RocketMqConfig(rocketMq.namesrvAddress(), TOPIC, null, null, null, workers);
    SeriesConfig series =
        new SeriesConfig(SpanStream.DIMENSIONS, null, null, null, null, null, null, null, null);
    HistogramConfig histogram = new HistogramConfig(null);
    WindowConfig windows = new WindowConfig(window, Duration.ofMinutes(15), null, null, null);
    Aggregation aggregation =
        Aggregation.builder(() -> 1).series(series).histogram(histogram).window(windows).build();
    SpanNaming naming = new SpanNaming(MetricsConfig.defaults(), series, histogram);
    try (SpanPages pages = new SpanPages(naming, Clocks.SYSTEM, nanos -> {});
        PipelineOnTopic pipeline =
            new PipelineOnTopic(
                config, JOURNAL_TOPIC, windows, aggregation, List.of(pages), listener)) {
      pages.start();
      // After its first scrape, a format is rendered at every window.
      pages.page(Encoding.OPENMETRICS, FIRST_PAGE);
      boolean isAsked = asks && number % 2 == 1;
      if (isAsked) {
        questions.begin();
      }
      if (rate > 0) {
        Thread measuring = Thread.currentThread();
        Thread.ofPlatform()
            .daemon()
            .name("bench-load")
            .start(() -> {
              loading.run();
              if (loading.state() == Future.State.FAILED) {
                measuring.interrupt();
              }
            });
      }
      Round round = timed(loaded, left, pipeline, loading);
      int answers = isAsked ? questions.end() : 0;
      if (number > 1) {
        (isAsked ? asked : unasked).add(round.spansPerSecond());
      }
      if (!refused.isEmpty()) {
        throw new IllegalStateException("batches were refused: " + refused);
      }
      return round.with(pauses.count(), micros(pauses, 99.9), micros(pauses, 100), answers);
    }
  }

  /** Fails with the cause if the load fails. */
  private static Round timed(
      Loaded loaded, CountDownLatch left, PipelineOnTopic pipeline, FutureTask<Void> loading)
      throws InterruptedException, ExecutionException {
    try {
      return timed(loaded, left, pipeline);
    } finally {
      loading.get();
    }
  }

  /** Returns what {@link #load} writes. */
  private Loaded toLoad() {
    int messages = 0;
    long loaded = 0;
    long bytes = 0;
    while (loaded < spans) {
      Message message = batches.get(messages % batches.size());
      loaded += message.spans;
      bytes += message.batch.named(0).length;
      messages++;
    }
    return new Loaded(messages, loaded, bytes);
  }

  private void load(EmbeddedRocketMq rocketMq) throws Exception {
    try (TopicWriter writer =
        new TopicWriter(rocketMq.namesrvAddress(), TOPIC, "drain-load-" + sequence)) {
      long beginNanos = System.nanoTime();
      long loaded = 0;
      for (int messages = 0; loaded < spans; messages++) {
        Message message = batches.get(messages % batches.size());
        writer.send(messages, message.batch.named(sequence++).clone());
        loaded += message.spans;
        if (rate > 0) {
          long dueNanos = beginNanos + (long) (loaded * 1e9 / rate);
          TimeUnit.NANOSECONDS.sleep(dueNanos - System.nanoTime());
        }
      }
      writer.await();
    }
  }
}
