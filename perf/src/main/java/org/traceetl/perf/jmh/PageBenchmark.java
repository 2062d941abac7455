package org.traceetl.perf.jmh;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.SpanPages;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Folding a window of every queue and rendering the page anew: 50,000 histogram series on eight
 * queues, all of them touched, which is 1,000,000 samples in text; time per page.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2, time = 5)
@Measurement(iterations = 5, time = 3)
@Fork(value = 1, jvmArgsAppend = "-Xmx3g")
public class PageBenchmark {
  private static final int QUEUES = 8;
  private static final int SERIES_OF_A_QUEUE = 6_250;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  @Param({"TEXT", "OPENMETRICS", "OPENMETRICS_GZIP"})
  private Encoding encoding;

  private SpanPages pages;
  private List<SealedWindow> windows;

  @Setup(Level.Trial)
  public void setUp() throws TimeoutException, InterruptedException {
    HistogramConfig histogram = new HistogramConfig(null);
    pages =
        new SpanPages(
            new Naming(MetricsConfig.defaults(), SeriesConfig.defaults(), histogram),
            System::nanoTime,
            nanos -> {});
    pages.start();
    int stride = histogram.boundsMillis().size() + 1;
    windows = new ArrayList<>();
    for (int queue = 0; queue < QUEUES; queue++) {
      pages.window(window(queue, stride, created(queue)));
      windows.add(window(queue, stride, List.of()));
    }
    pages.page(encoding, PATIENCE);
  }

  @Benchmark
  public long foldAndRender() throws TimeoutException, InterruptedException {
    windows.forEach(pages::window);
    pages.await(PATIENCE);
    return pages.page(encoding, PATIENCE).bytes();
  }

  @TearDown(Level.Trial)
  public void tearDown() {
    pages.close();
  }

  private static List<SeriesDefinition> created(int queue) {
    List<SeriesDefinition> created = new ArrayList<>();
    for (int series = 0; series < SERIES_OF_A_QUEUE; series++) {
      String application = "application-" + queue + "-" + series / 50;
      String name = "GET /api/v1/resource" + series % 50 + "/{id}";
      created.add(
          new SeriesDefinition(
              series, 1_790_000_000_000L, false, List.of(application, name, "2", "0")));
    }
    return created;
  }

  private static SealedWindow window(int queue, int stride, List<SeriesDefinition> created) {
    int[] series = new int[SERIES_OF_A_QUEUE];
    Arrays.setAll(series, i -> i);
    long[] counts = new long[SERIES_OF_A_QUEUE * stride];
    Arrays.setAll(counts, i -> i % 1_000);
    long[] durationNanos = new long[SERIES_OF_A_QUEUE];
    Arrays.setAll(durationNanos, i -> 1_234_567L * i);
    int[] exemplars = new int[SERIES_OF_A_QUEUE];
    Arrays.fill(exemplars, -1);
    return new SealedWindow(
        new QueueId("broker", queue),
        0,
        1,
        1_790_000_000_000L,
        1_790_000_015_000L,
        created,
        new int[0],
        SERIES_OF_A_QUEUE,
        stride,
        series,
        counts,
        durationNanos,
        exemplars,
        new int[SERIES_OF_A_QUEUE],
        List.of(),
        List.of(),
        0,
        new long[0],
        AcceptedBatches.NONE);
  }
}
