package org.traceetl.perf.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.traceetl.perf.load.FullWindows;
import org.traceetl.perf.report.Results;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.features.pages.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.journal.Journal.Taken;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.LogJournals;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.RocketMqLogs;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.standalone.EmbeddedRocketMq;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What the journal costs an owner, and how long a new one takes: a real RocketMQ in this JVM, one
 * queue, windows in which all series have spans. The owner goes without a word; the next one
 * recovers from all windows, then, after a snapshot, from that and the windows of ten minutes.
 */
@Command(
    name = "takeover",
    description = "Measures the journal's appends, and the time to take over a queue.")
public final class TakeOver implements Callable<Integer> {
  private static final String TOPIC = "trace-spans";
  private static final String JOURNAL_TOPIC = "trace-windows";
  private static final String GROUP = "takeover";

  @Mixin private Results results;

  @Option(
      names = "--series",
      split = ",",
      description = "Series of the queue (default: ${DEFAULT-VALUE}).")
  private List<Integer> sizes = List.of(1_000, 10_000, 100_000);

  @Option(
      names = "--windows",
      description =
          "Windows after the snapshot (default: ${DEFAULT-VALUE}, ten minutes of 15 seconds).")
  private int windows = 40;

  @Option(names = "--help", usageHelp = true, description = "Show this.")
  private boolean help;

  private final Aggregation aggregation =
      new Aggregation(
          SeriesConfig.defaults(),
          new HistogramConfig(null),
          DocumentsConfig.defaults(),
          new WindowConfig(null, null));

  private final Map<String, Object> summary = new LinkedHashMap<>();
  private boolean warm;

  public static void main(String... arguments) {
    System.exit(new CommandLine(new TakeOver()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    results.columns(
        "series",
        "step",
        "bytes",
        "ms",
        "cpu_ms",
        "cpu_percent_of_15_s_window",
        "read_and_claim_ms",
        "aggregator_ms",
        "page_ms");
    Path directory = Files.createTempDirectory("trace-etl-takeover");
    try (EmbeddedRocketMq rocketMq = EmbeddedRocketMq.start(directory)) {
      rocketMq.createTopic(TOPIC, sizes.size() + 1);
      rocketMq.createTopic(JOURNAL_TOPIC, sizes.size() + 1);
      RocketMqConfig config =
          new RocketMqConfig(rocketMq.namesrvAddress(), TOPIC, null, null, null, 1);
      // The first one loads and compiles the code.
      measure(config, sizes.size(), 1_000);
      warm = true;
      for (int queue = 0; queue < sizes.size(); queue++) {
        measure(config, queue, sizes.get(queue));
      }
    } finally {
      RunFolder.delete(directory);
    }
    results.summary("takeover", summary);
    return 0;
  }

  private void measure(RocketMqConfig config, int number, int series) throws Exception {
    QueueId queue = new QueueId(EmbeddedRocketMq.BROKER, number);
    FullWindows full = new FullWindows(queue, series, aggregation.newImage());
    try (LogJournals first = journals(config)) {
      QueueJournal owner = first.take(queue).journal();
      append(owner, full, 1, "first_window", series);
      append(owner, full, windows, "window", series);
    }
    try (LogJournals second = journals(config)) {
      QueueJournal owner = takeOver(second, queue, "takeover", series);
      long startNanos = System.nanoTime();
      owner.snapshot();
      double millis = (System.nanoTime() - startNanos) / 1e6;
      row(series, "snapshot", "", millis, "", "", "", "", "");
      append(owner, full, windows, "window", series);
    }
    try (LogJournals third = journals(config)) {
      takeOver(third, queue, "takeover_from_snapshot", series);
    }
  }

  private LogJournals journals(RocketMqConfig config) throws Exception {
    RocketMqLogs logs = new RocketMqLogs(config, JOURNAL_TOPIC, Duration.ofSeconds(10));
    logs.start();
    return new LogJournals(
        logs,
        TOPIC,
        GROUP,
        aggregation::newImage,
        JournalTiming.system(Clock.systemUTC(), Duration.ofSeconds(30), Duration.ofMinutes(10)),
        counters);
  }

  private final JournalCounters counters = new JournalCounters();

  private void append(QueueJournal owner, FullWindows full, int count, String which, int series)
      throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long bytes = counters.appendedBytes();
    long nanos = 0;
    long cpuNanos = 0;
    for (int i = 0; i < count; i++) {
      SealedWindow window = full.next();
      long startNanos = System.nanoTime();
      long startCpuNanos = threads.getCurrentThreadCpuTime();
      owner.append(window);
      cpuNanos += threads.getCurrentThreadCpuTime() - startCpuNanos;
      nanos += System.nanoTime() - startNanos;
    }
    row(
        series,
        which,
        (counters.appendedBytes() - bytes) / count,
        nanos / 1e6 / count,
        cpuNanos / 1e6 / count,
        cpuNanos / 1e9 / count / 15 * 100,
        "",
        "",
        "");
  }

  /** A row of the table, and what it says of time and bytes in the summary. */
  private void row(
      int series,
      String step,
      Object bytes,
      double millis,
      Object cpuMillis,
      Object cpuPercent,
      Object readMillis,
      Object aggregatorMillis,
      Object pageMillis) {
    if (!warm) {
      return;
    }
    results.row(
        series,
        step,
        bytes,
        millis,
        cpuMillis,
        cpuPercent,
        readMillis,
        aggregatorMillis,
        pageMillis);
    String key = "series_" + series + "_" + step;
    if (!bytes.equals("")) {
      summary.put(key + "_bytes", bytes);
      summary.put(key + "_cpu_ms", cpuMillis);
    }
    summary.put(key + "_ms", millis);
  }

  private QueueJournal takeOver(LogJournals journals, QueueId queue, String step, int series)
      throws Exception {
    SpanPages pages =
        new SpanPages(
            new SpanNaming(
                MetricsConfig.defaults(), SeriesConfig.defaults(), new HistogramConfig(null)),
            System::nanoTime,
            nanos -> {});
    pages.start();
    try {
      pages.page(Encoding.OPENMETRICS, Duration.ofSeconds(10));
      long startNanos = System.nanoTime();
      Taken taken = journals.take(queue);
      long takenNanos = System.nanoTime();
      aggregation.newAggregator(
          queue, aggregation.newDecoder(), new PipelineMetrics(), taken.image());
      long readyNanos = System.nanoTime();
      pages.restored(queue, taken.image(), readyNanos);
      pages.shownUntil(queue, readyNanos + Duration.ofMinutes(1).toNanos());
      pages.await(Duration.ofMinutes(1));
      long shownNanos = System.nanoTime();
      row(
          series,
          step,
          "",
          (shownNanos - startNanos) / 1e6,
          "",
          "",
          (takenNanos - startNanos) / 1e6,
          (readyNanos - takenNanos) / 1e6,
          (shownNanos - readyNanos) / 1e6);
      return taken.journal();
    } finally {
      pages.close();
    }
  }
}
