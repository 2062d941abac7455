package org.traceetl.perf.bench.jmh;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.SeriesBudget;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.series.SlowThresholds;
import org.traceetl.server.series.SymbolTable;

/**
 * Finds the series of a key of five numbers, in random order: hash, index, compare. Lookups follow
 * each other, as when a batch is recorded.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class LookupBenchmark {
  private static final int BATCH = 512;
  private static final int SOUGHT = 1 << 20;
  private static final int OUTCOMES = 8;

  @Param({"1000", "20000", "100000", "1000000"})
  private int series;

  private SeriesTable table;

  /** Keys in the order of their lookups. */
  private int[] keys;

  private int next;

  @Setup
  public void setUp() {
    SeriesConfig config =
        new SeriesConfig(
            SpanStream.DIMENSIONS,
            null,
            4_000_000,
            4_000_000,
            null,
            4_000_000,
            1L << 30,
            null,
            null);
    SymbolTable symbols =
        new SymbolTable(config.maxSymbols(), config.maxSymbolBytes(), config.maxValueBytes());
    Applications applications =
        new Applications(symbols, new SlowThresholds(DocumentsConfig.defaults()), 10, 1);
    table = new SeriesTable(config, new SeriesBudget(config.max()), symbols, applications, false);
    byte[] name = "shop".getBytes(UTF_8);
    int application = applications.resolve(name, 0, name.length, 0);
    int width = table.width();
    int[] all = new int[series * width];
    int[] key = new int[width];
    for (int i = 0; i < series; i++) {
      byte[] operation = ("GET /api/v1/resource/" + i / OUTCOMES).getBytes(UTF_8);
      byte[] outcome = Integer.toString(i % OUTCOMES).getBytes(UTF_8);
      key[SeriesTable.APPLICATION] = applications.symbol(application);
      key[SeriesTable.NAME] = symbols.intern(operation, 0, operation.length);
      key[SeriesTable.KIND_AND_STATUS] = SeriesTable.kindAndStatus(2, 0);
      key[SeriesTable.DIMENSIONS] = symbols.intern(outcome, 0, outcome.length);
      key[SeriesTable.DIMENSIONS + 1] = SymbolTable.NONE;
      if (!table.hasRoom(application, 0, 0)) {
        throw new IllegalStateException("no room for series " + i);
      }
      table.create(table.hash(key, 0), key, application, 0);
      System.arraycopy(key, 0, all, i * width, width);
    }
    SplittableRandom random = new SplittableRandom(1);
    keys = new int[SOUGHT * width];
    for (int i = 0; i < SOUGHT; i++) {
      System.arraycopy(all, random.nextInt(series) * width, keys, i * width, width);
    }
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public int find() {
    int width = table.width();
    int sum = 0;
    for (int i = 0; i < BATCH; i++) {
      int at = (next + i & SOUGHT - 1) * width;
      sum += table.find(table.hash(keys, at), keys, at);
    }
    next += BATCH;
    return sum;
  }
}
