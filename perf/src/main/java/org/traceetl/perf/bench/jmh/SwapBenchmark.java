package org.traceetl.perf.bench.jmh;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.traceetl.perf.bench.load.DistinctSeries;
import org.traceetl.perf.bench.load.RenamedBatch;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.FilledWindow;
import org.traceetl.server.consume.queue.QueueAggregator;
import org.traceetl.server.window.QueueId;

/**
 * Measures how long a worker stops to swap the window of a queue in which all series had spans, as
 * a distribution.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Measurement(iterations = 5, time = 4)
public class SwapBenchmark extends StepBenchmark {
  private static final long WINDOW_MILLIS = 15_000;

  @Param({"1000", "10000", "100000"})
  private int series;

  private List<RenamedBatch> batches;
  private QueueAggregator aggregator;
  private FilledWindow filled;
  private long nowMillis = 1_790_000_000_000L;
  private long sequence;
  private long offset;

  @Setup(Level.Trial)
  public void makeBatches() {
    batches =
        new DistinctSeries(30, series, 512).batches().stream().map(RenamedBatch::new).toList();
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(
                new SeriesConfig(
                    SpanStream.DIMENSIONS, null, null, series, null, null, null, null, null))
            .window(
                new WindowConfig(
                    Duration.ofMillis(WINDOW_MILLIS), Duration.ofMinutes(15), null, null, null))
            .build();
    aggregator =
        aggregation.newAggregator(
            new QueueId("broker", 0), aggregation.newDecoder(), new SpanPipelineMetrics());
    aggregator.beginAt(0);
  }

  @Setup(Level.Invocation)
  public void fill() {
    for (RenamedBatch batch : batches) {
      aggregator.accept(batch.named(sequence++), nowMillis);
    }
    nowMillis += WINDOW_MILLIS;
    offset++;
  }

  @Benchmark
  public FilledWindow swap() {
    filled = aggregator.swap(offset, nowMillis);
    return filled;
  }

  @TearDown(Level.Invocation)
  public void giveBack() {
    filled.giveBack();
  }
}
