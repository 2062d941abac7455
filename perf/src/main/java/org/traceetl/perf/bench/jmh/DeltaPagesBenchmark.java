package org.traceetl.perf.bench.jmh;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.delta.Answer;
import org.traceetl.server.ozhera.delta.DeltaOptions;
import org.traceetl.server.ozhera.delta.DeltaPages;
import org.traceetl.server.ozhera.delta.ScraperPositions;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Delta pages of profile {@code ozhera}: a window of each of eight queues in which all of 100,000
 * series have spans, and the scraper's answer; time of each step.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 10)
@Measurement(iterations = 20)
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
public class DeltaPagesBenchmark {
  private static final int QUEUES = 8;
  private static final int SERIES_OF_A_QUEUE = 12_500;
  private static final int STRIDE = 14;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final DeltaPages pages =
      new DeltaPages(
          new DeltaOptions(
              new OzheraConfig(null, null, null, List.of("scraper"), null),
              STRIDE,
              "group",
              Duration.ofSeconds(15),
              Long.MAX_VALUE,
              Duration.ofMinutes(5)),
          new NoPositions(),
          nanos -> {},
          Clocks.SYSTEM);
  private long nextOffset;
  private List<SealedWindow> windows;
  private Answer answer;

  /** The steps before {@code answer}. */
  @State(Scope.Thread)
  public static class Folded {
    @Setup(Level.Iteration)
    public void fold(DeltaPagesBenchmark benchmark) throws Exception {
      benchmark.fold();
    }
  }

  @Setup(Level.Trial)
  public void begin() throws Exception {
    pages.start();
    settle();
    makeWindows();
    fold();
    settle();
  }

  @Setup(Level.Iteration)
  public void makeWindows() {
    windows = new ArrayList<>();
    for (int queue = 0; queue < QUEUES; queue++) {
      windows.add(window(queue, nextOffset == 0));
    }
    nextOffset++;
  }

  @Benchmark
  public void fold() throws Exception {
    windows.forEach(pages::window);
    pages.await(PATIENCE);
  }

  /** Takes the answer and writes it. */
  @Benchmark
  public void answer(Folded folded) throws Exception {
    answer = pages.take("scraper", "here", PATIENCE);
    answer.writeTo(OutputStream.nullOutputStream());
  }

  @TearDown(Level.Iteration)
  public void settle() throws Exception {
    if (answer == null) {
      answer = pages.take("scraper", "here", PATIENCE);
    }
    pages.commit(answer);
    pages.settle(answer, true);
    answer = null;
  }

  @TearDown(Level.Trial)
  public void close() {
    pages.close();
  }

  private SealedWindow window(int queue, boolean first) {
    int rows = SERIES_OF_A_QUEUE;
    int[] series = new int[rows];
    Arrays.setAll(series, row -> row);
    long[] counts = new long[rows * STRIDE];
    for (int row = 0; row < rows; row++) {
      counts[row * STRIDE + row % STRIDE] = 100 + row;
    }
    long[] durations = new long[rows];
    Arrays.setAll(durations, row -> 1_234_567L * row);
    List<SeriesDefinition> created = new ArrayList<>();
    for (int row = 0; first && row < rows; row++) {
      created.add(grpcServer(queue, row));
    }
    return new SealedWindow(
        new QueueId("broker", queue),
        nextOffset,
        nextOffset + 1,
        0,
        15_000,
        created,
        new int[0],
        rows,
        STRIDE,
        series,
        counts,
        durations,
        new int[rows],
        new int[rows],
        List.of(),
        List.of(),
        0,
        new long[rows],
        AcceptedBatches.NONE,
        NativeCounts.NONE);
  }

  private static SeriesDefinition grpcServer(int queue, int number) {
    return new SeriesDefinition(
        number,
        0,
        false,
        Arrays.asList(
            "application-" + queue,
            "operation-" + number,
            Integer.toString(SpanType.GRPC_SERVER.number()),
            "0",
            "10.20.30.40",
            "production",
            "1",
            "com.example.service.Orders",
            null,
            null));
  }

  /** No broker: the scraper's places are not stored. */
  private static final class NoPositions implements ScraperPositions {
    @Override
    public long load(QueueId queue, String group) {
      return JournalLog.NONE;
    }

    @Override
    public void store(QueueId queue, String group, long offset) throws IOException {}

    @Override
    public void read(
        QueueId queue,
        long sinceMillis,
        Consumer<QueueImage> snapshots,
        Predicate<SealedWindow> windows) {}
  }
}
