package org.traceetl.perf.bench;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.traceetl.common.Clocks;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.features.pages.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.journal.log.RocketMqLogs;

/**
 * The server's pipeline (pull, decode, record, seal, append, fold, render) in this JVM, on topics
 * of a RocketMQ: the server without its web port and its indexes. It renders an OpenMetrics page at
 * every window, as for a scraper.
 */
final class PipelineOnTopic implements AutoCloseable {
  private static final Duration FIRST_PAGE = Duration.ofSeconds(10);
  private static final Duration DRAIN = Duration.ofSeconds(30);

  private final SpanPages pages;
  private final LogJournals journals;
  private final SpanPipeline pipeline;

  /**
   * @param workers threads that record
   */
  PipelineOnTopic(
      String nameServer,
      String topic,
      String journalTopic,
      int workers,
      Duration window,
      PipelineMetrics listener)
      throws IOException, TimeoutException, InterruptedException {
    SeriesConfig series =
        new SeriesConfig(SpanStream.DIMENSIONS, null, null, null, null, null, null, null, null);
    HistogramConfig histogram = new HistogramConfig(null);
    pages =
        new SpanPages(
            new SpanNaming(MetricsConfig.defaults(), series, histogram),
            System::nanoTime,
            nanos -> {});
    pages.start();
    WindowConfig windows = new WindowConfig(window, Duration.ofMinutes(15));
    RocketMqConfig config = new RocketMqConfig(nameServer, topic, null, null, null, workers);
    JournalConfig journal = JournalConfig.defaults();
    Aggregation aggregation =
        Aggregation.builder(() -> 1).series(series).histogram(histogram).window(windows).build();
    RocketMqLogs logs =
        new RocketMqLogs(config, journalTopic, Duration.ofSeconds(3), Clocks.SYSTEM);
    logs.start();
    journals =
        new LogJournals(
            logs,
            topic,
            config.consumerGroup(),
            aggregation::newImage,
            new JournalTiming(
                Clocks.SYSTEM, new SecureRandom(), journal.lease(), journal.snapshotInterval()),
            new JournalCounters());
    pipeline =
        new SpanPipeline(
            config,
            journal.lease(),
            windows,
            aggregation,
            journals,
            List.of(pages),
            Clocks.SYSTEM,
            listener);
    // After its first scrape, a format is rendered at every window.
    pages.page(Encoding.OPENMETRICS, FIRST_PAGE);
  }

  void start() {
    pipeline.start();
  }

  int series() {
    return pipeline.queues().stream().mapToInt(queue -> queue.series()).sum();
  }

  @Override
  public void close() {
    pipeline.drain(DRAIN);
    journals.close();
    pages.close();
  }
}
