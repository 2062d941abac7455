package org.traceetl.perf.bench.jmh;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.common.Clocks;
import org.traceetl.perf.bench.load.DistinctSeries;
import org.traceetl.perf.bench.load.RenamedBatch;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.QueueAggregator;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;

/**
 * Measures the bytes of a histogram series with 16 bounds, by location: heap differences after full
 * collections, as secondary results. The time of a run is meaningless.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 1)
@Measurement(iterations = 1) // JMH adds up the counters of iterations
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
public class SeriesMemoryBenchmark extends StepBenchmark {
  private static final QueueId QUEUE = new QueueId("broker", 0);
  private static final long OPENED_MILLIS = 1_790_000_000_000L;
  private static final int ARRAY_HEADER_BYTES = 16;
  private static final String CALLS = "traces_span_metrics_calls_total{";

  @Param({"10000", "100000", "500000"})
  private int series;

  private final SeriesConfig config =
      new SeriesConfig(
          SpanStream.DIMENSIONS, null, 4_000_000, 4_000_000, null, 4_000_000, 1L << 30, null, null);
  private final Aggregation aggregation =
      Aggregation.builder(() -> 1)
          .series(config)
          .window(
              new WindowConfig(Duration.ofSeconds(15), Duration.ofMinutes(15), null, null, null))
          .build();
  private List<RenamedBatch> batches;

  /** Bytes of a series. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Bytes {
    /** The key, with its share of the symbols. */
    public double keys;

    /** Rows of both windows. */
    public double openWindows;

    /** The page's series without its labels. */
    public double pages;

    /** The labels as the page keeps them: a text with its array's header. */
    public double renderedLabels;
  }

  @Setup
  public void makeBatches() {
    batches =
        new DistinctSeries(100, series, 512).batches().stream().map(RenamedBatch::new).toList();
  }

  @Benchmark
  public QueueAggregator keep(Bytes bytes) throws Exception {
    QueueAggregator first = newAggregator(aggregation.newImage());
    first.beginAt(0);
    record(first, 0);
    QueueImage image = aggregation.newImage();
    image.apply(first.swap(1, OPENED_MILLIS).seal());
    try (SpanPages pages =
        new SpanPages(
            new SpanNaming(MetricsConfig.defaults(), config, new HistogramConfig(null)),
            Clocks.SYSTEM,
            nanos -> {})) {
      pages.start();
      double base = heapBytes();
      pages.restored(QUEUE, image, System.nanoTime());
      pages.await(Duration.ofMinutes(1));
      double withPages = heapBytes();
      QueueAggregator aggregator = newAggregator(image);
      double withKeys = heapBytes();
      for (int window = 1; window < 4; window++) {
        record(aggregator, window);
        aggregator.swap(window, OPENED_MILLIS + window * 1_000L).giveBack();
      }
      bytes.openWindows = (heapBytes() - withKeys) / series;
      bytes.keys = (withKeys - withPages) / series;
      bytes.renderedLabels = renderedLabelsBytes(pages);
      bytes.pages = (withPages - base) / series - bytes.renderedLabels;
      return aggregator;
    }
  }

  private QueueAggregator newAggregator(QueueImage image) {
    return aggregation.newAggregator(
        QUEUE, aggregation.newDecoder(), new SpanPipelineMetrics(), image);
  }

  private void record(QueueAggregator aggregator, int window) {
    for (int batch = 0; batch < batches.size(); batch++) {
      aggregator.accept(
          batches.get(batch).named((long) window * batches.size() + batch),
          OPENED_MILLIS + window * 1_000L);
    }
  }

  private static double renderedLabelsBytes(SpanPages pages) throws Exception {
    pages.shownUntil(QUEUE, Long.MAX_VALUE / 2);
    var text = new ByteArrayOutputStream();
    pages.page(Encoding.TEXT, Duration.ofMinutes(1)).writeTo(text);
    return text.toString(StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.startsWith(CALLS))
        .mapToInt(line -> line.lastIndexOf('}') - CALLS.length())
        .mapToLong(bytes -> (ARRAY_HEADER_BYTES + bytes + 7) / 8 * 8)
        .average()
        .orElseThrow();
  }

  private static double heapBytes() {
    Runtime runtime = Runtime.getRuntime();
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
