package org.traceetl.perf.bench.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.traceetl.perf.bench.load.EdgeLoad;

/**
 * Processes a worker's batches of half-edges, from bytes to the open window: decode, find the
 * heads, join, count; time per half, with expiry and the windows of {@link EdgeLoad}.
 */
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
public class EdgeRecordBenchmark extends StepBenchmark {
  private static final int HALVES = 131_072;

  /** Number of callers that wait for their callees. */
  @Param({"10000", "1000000"})
  private int open;

  private EdgeLoad load;

  @Setup(Level.Trial)
  public void setUp() {
    load = new EdgeLoad(open);
  }

  @Benchmark
  @OperationsPerInvocation(HALVES)
  public void record() {
    load.record(HALVES);
  }
}
