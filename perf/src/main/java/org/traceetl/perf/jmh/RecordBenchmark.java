package org.traceetl.perf.jmh;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.perf.load.RenamedBatch;
import org.traceetl.perf.load.SpanStream;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.PipelineListener;
import org.traceetl.server.consume.QueueAggregator;
import org.traceetl.server.window.QueueId;

/**
 * Taking batches into the open window of one queue: decode, find the series, record; time per span.
 * The same batches come again and again under new names, so that none is a duplicate. {@code
 * dimensions} adds two attributes to the key of a series, which multiplies the series.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class RecordBenchmark {
  private static final int SPANS = 512;
  private static final int BATCHES = 512;

  @Param({"false", "true"})
  private boolean dimensions;

  private List<RenamedBatch> batches;
  private QueueAggregator aggregator;
  private int next;
  private long sequence;

  @Setup(Level.Trial)
  public void setUp() {
    batches =
        new SpanStream(1, 30, 50)
            .batches(BATCHES, SPANS, SPANS).stream().map(RenamedBatch::new).toList();
    Aggregation aggregation =
        new Aggregation(
            new SeriesConfig(
                dimensions ? SpanStream.DIMENSIONS : List.of(),
                null,
                null,
                null,
                null,
                null,
                null,
                null),
            new HistogramConfig(null),
            DocumentsConfig.defaults(),
            new WindowConfig(Duration.ofSeconds(15), Duration.ofMinutes(15)));
    aggregator =
        aggregation.newAggregator(
            new QueueId("broker", 0), aggregation.newDecoder(), PipelineListener.NONE);
    aggregator.beginAt(0);
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void record() {
    RenamedBatch batch = batches.get(next++ & (BATCHES - 1));
    aggregator.accept(batch.named(sequence++), 1_790_000_000_000L);
  }
}
