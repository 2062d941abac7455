package org.traceetl.perf.bench.jmh;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.series.CardinalitySurvey;
import org.traceetl.server.series.HeavyHitters;
import org.traceetl.server.series.SeriesBudget;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.series.SlowThresholds;
import org.traceetl.server.series.SymbolTable;
import org.traceetl.server.series.Tenants;
import org.traceetl.server.window.WindowMetrics;

/**
 * Measures a swap's additional cost for the worker at the limits: the contest for the series of a
 * queue, and the survey of the applications' series. All series are contested twice: by their own
 * application, which is at its limit, and, at the limit of the process, by one without a series.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class ContestBenchmark extends StepBenchmark {
  private static final long NOW_MILLIS = 1_790_000_000_000L;
  private static final int KEYS = 1_024;

  /** The stride of the default histogram. */
  private static final int STRIDE = 16;

  @Param({"65536"})
  private int series;

  /** One of the applications has no series. */
  @Param({"2", "64"})
  private int applications;

  /** Each series has fewer spans than the previous one: the maximum cost of ranking. */
  @Param({"false", "true"})
  private boolean falling;

  private final int[] numbers = new int[64];
  private SeriesTable table;
  private HeavyHitters contest;
  private WindowMetrics window;
  private CardinalitySurvey census;
  private long nowMillis = NOW_MILLIS;

  @Setup(Level.Trial)
  public void fill() {
    int each = series / (applications - 1);
    SeriesConfig config =
        new SeriesConfig(
            List.of(), null, each * (applications - 1), each, null, 1_000_000, null, null, null);
    SymbolTable symbols = new SymbolTable(1_000_000, 100_000_000, 100, 1);
    SlowThresholds slow = new SlowThresholds(DocumentsConfig.defaults());
    Applications known = new Applications(symbols, () -> slow, () -> Tenants.NONE, 1_000, 1);
    table = new SeriesTable(config, new SeriesBudget(config.max()), symbols, known, false);
    contest = new HeavyHitters(each);
    census = new CardinalitySurvey(config, false, table, known, symbols, contest);
    window = new WindowMetrics(STRIDE, 0, 0, 0, false, false);
    for (int i = 0; i < applications; i++) {
      byte[] name = ("application-" + i).getBytes(UTF_8);
      numbers[i] = known.resolve(name, 0, name.length, NOW_MILLIS);
    }
    int[] key = new int[table.width()];
    for (int i = 0; i < each * (applications - 1); i++) {
      int application = numbers[i % (applications - 1)];
      byte[] name = ("operation " + i).getBytes(UTF_8);
      key[SeriesTable.APPLICATION] = known.symbol(application);
      key[SeriesTable.NAME] = symbols.intern(name, 0, name.length);
      if (!table.hasRoom(application, 0, 0)) {
        throw new IllegalStateException("no room for series " + i);
      }
      table.create(table.hash(key, 0), key, application, NOW_MILLIS);
    }
    // Rows are in the order of the series' first spans in the window.
    List<Integer> touched =
        new ArrayList<>(IntStream.range(0, each * (applications - 1)).boxed().toList());
    Collections.shuffle(touched, new Random(1));
    for (int number : touched) {
      int row = window.pane(0).open(number);
      window.pane(0).add(row, 0, falling ? 2L * series - number : 1_000, 1);
    }
  }

  @Setup(Level.Invocation)
  public void crowd() {
    long hash = 1;
    for (int i = 0; i < applications; i++) {
      for (int key = 0; key < KEYS; key++) {
        hash = hash * 0x5851_F42D_4C95_7F2DL + 1;
        contest.count(numbers[i], hash, 1_000);
      }
    }
  }

  @Benchmark
  public int endWindow() {
    return contest.endWindow(table, window, true);
  }

  /** Surveys at most eight applications a minute. */
  @Benchmark
  public List<Cardinality> census() {
    nowMillis += 61_000;
    return census.take(window, nowMillis);
  }
}
