package org.traceetl.perf.jmh;

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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.perf.load.RecordLoad;
import org.traceetl.perf.load.SpanStream;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;

/**
 * A worker's batches, from bytes to the open windows of its four queues: decode, find the series,
 * record; time per span and thread. 30 applications with 50 operations each drawn by Zipf shares,
 * 12 attributes, 256 to 1,024 spans a batch; every million spans the windows are swapped, sealed
 * and given back. {@code dimensions} adds two attributes to the key of a series: about 20,000
 * series in all, 60,000 by queue. {@code histogram} says which buckets a series has. Two workers
 * share nothing: twice the time of {@code oneWorker} over that of {@code twoWorkers} tells how far
 * two cores go.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class RecordBenchmark {
  private static final int MIN_SPANS = 256;
  private static final int MAX_SPANS = 1_024;
  private static final int PAIRS = 256;
  private static final int SPANS = PAIRS * (MIN_SPANS + MAX_SPANS);
  private static final int SPANS_PER_WINDOW = 1_000_000;
  private static final int QUEUES = 4;

  @Param({"false", "true"})
  private boolean dimensions;

  @Param({"CLASSIC", "NATIVE", "BOTH"})
  private HistogramConfig.Kind histogram;

  /** Whether there is room for events in the key of a series; there are none. */
  @Param("true")
  private boolean events;

  private RecordLoad load;

  @Setup(Level.Trial)
  public void setUp() {
    load =
        new RecordLoad(
            new SpanStream(1, 30, 50).pairs(PAIRS, MIN_SPANS, MAX_SPANS),
            new EventsConfig(events, null)
                .addTo(
                    new SeriesConfig(
                        dimensions ? SpanStream.DIMENSIONS : List.of(),
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null),
                    StandardProfile.OTEL)
                .dimensions(),
            histogram,
            QUEUES,
            SPANS_PER_WINDOW);
  }

  @Benchmark
  @Threads(1)
  @OperationsPerInvocation(SPANS)
  public void oneWorker() {
    load.round();
  }

  @Benchmark
  @Threads(2)
  @OperationsPerInvocation(SPANS)
  public void twoWorkers() {
    load.round();
  }
}
