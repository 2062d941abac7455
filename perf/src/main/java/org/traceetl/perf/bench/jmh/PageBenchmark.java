package org.traceetl.perf.bench.jmh;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.common.Clocks;
import org.traceetl.perf.bench.load.TouchedWindows;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.window.SealedWindow;

/**
 * Folds a window of every queue and renders the page again: 50,000 histogram series on eight
 * queues, 1,000,000 samples in text. Time per page, by the share of series with spans in the
 * window, and by their choice.
 */
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2, time = 3)
@Measurement(iterations = 4, time = 2)
@Fork(value = 1, jvmArgsAppend = "-Xmx3g")
public class PageBenchmark extends StepBenchmark {
  static final int QUEUES = 8;
  static final int SERIES_OF_A_QUEUE = 6_250;
  private static final int WINDOWS = 4;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  @Param({"TEXT", "OPENMETRICS", "OPENMETRICS_GZIP"})
  private Encoding encoding;

  @Param({"1", "0.1", "0.01"})
  private double touched;

  @Param("SCATTERED")
  private TouchedWindows.Touch touch;

  private SpanPages pages;
  private final List<List<SealedWindow>> windows = new ArrayList<>();
  private int next;

  @Setup(Level.Trial)
  public void setUp() throws TimeoutException, InterruptedException {
    HistogramConfig histogram = new HistogramConfig(null);
    pages =
        new SpanPages(
            new SpanNaming(MetricsConfig.defaults(), SeriesConfig.defaults(), histogram),
            Clocks.SYSTEM,
            nanos -> {});
    pages.start();
    int stride = histogram.boundsMillis().size() + 1;
    List<TouchedWindows> queues = new ArrayList<>();
    for (int queue = 0; queue < QUEUES; queue++) {
      queues.add(new TouchedWindows(queue, SERIES_OF_A_QUEUE, stride));
      pages.window(queues.getLast().first());
    }
    for (int i = 0; i < WINDOWS; i++) {
      windows.add(queues.stream().map(queue -> queue.next(touched, touch)).toList());
    }
    pages.page(encoding, PATIENCE);
  }

  @Benchmark
  public long foldAndRender() throws TimeoutException, InterruptedException {
    windows.get(next++ % WINDOWS).forEach(pages::window);
    pages.await(PATIENCE);
    return pages.page(encoding, PATIENCE).bytes();
  }

  @TearDown(Level.Trial)
  public void tearDown() {
    pages.close();
  }
}
