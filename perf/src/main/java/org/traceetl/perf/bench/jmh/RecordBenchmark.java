package org.traceetl.perf.bench.jmh;

import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.Threads;
import org.traceetl.perf.bench.load.DistinctSeries;
import org.traceetl.perf.bench.load.RecordLoad;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;

/**
 * Processes a worker's batches, from bytes to the open windows of its queues: decode, find the
 * series, record; time per span and thread. Applications and operations are drawn by Zipf shares.
 * Every million spans the windows are swapped, sealed and returned. {@code dimensions} adds two
 * attributes to the key of a series: about 20,000 series in all, 60,000 by queue. The other
 * parameters show how the time grows: {@code -p attributes=2,6,12,24,48}. Two workers share
 * nothing: twice the time of {@code oneWorker} divided by that of {@code twoWorkers} is the
 * speed-up of two cores.
 */
public class RecordBenchmark extends StepBenchmark {
  private static final int MIN_SPANS = 256;
  private static final int MAX_SPANS = 1_024;
  private static final int PAIRS = 256;
  private static final int SPANS = PAIRS * (MIN_SPANS + MAX_SPANS);
  private static final int SPANS_PER_WINDOW = 1_000_000;

  @Param({"false", "true"})
  private boolean dimensions;

  @Param({"CLASSIC", "NATIVE", "BOTH"})
  private HistogramConfig.Kind histogram;

  /** Whether keys of series have room for events; the spans have no events. */
  @Param("true")
  private boolean events;

  @Param("30")
  private int applications;

  @Param("50")
  private int operations;

  @Param("12")
  private int attributes;

  /** Spans of each batch; 0 draws 256 to 1,024. */
  @Param("0")
  private int batchSpans;

  @Param("4")
  private int queues;

  /**
   * Number of equally frequent series, the worst case for caches; needs {@code dimensions}. 0 uses
   * the series of the applications and operations.
   */
  @Param("0")
  private int series;

  /** Panes of each window, between which the batches alternate: 1, 2, 8; 0 without panes. */
  @Param("1")
  private int panes;

  private RecordLoad load;

  @Setup(Level.Trial)
  public void setUp() {
    load =
        new RecordLoad(
            batches(),
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
            queues,
            SPANS_PER_WINDOW,
            panes);
  }

  private List<byte[]> batches() {
    if (series > 0) {
      return new DistinctSeries(applications, series, MAX_SPANS / 2).batches();
    }
    SpanStream stream = new SpanStream(1, applications, operations, attributes);
    return batchSpans > 0
        ? stream.batches(SPANS / batchSpans, batchSpans, batchSpans)
        : stream.pairs(PAIRS, MIN_SPANS, MAX_SPANS);
  }

  @Benchmark
  @Threads(1)
  @OperationsPerInvocation(SPANS)
  public void oneWorker() {
    load.record(SPANS);
  }

  @Benchmark
  @Threads(2)
  @OperationsPerInvocation(SPANS)
  public void twoWorkers() {
    load.record(SPANS);
  }
}
