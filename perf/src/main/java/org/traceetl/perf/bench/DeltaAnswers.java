package org.traceetl.perf.bench;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.delta.Answer;
import org.traceetl.server.ozhera.delta.DeltaPages;
import org.traceetl.server.ozhera.delta.ScraperPlaces;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/**
 * What answers with window deltas cost: time to write one of 100,000 different sets of labels, all
 * of them with spans in the window, and memory of each set and of what is kept for a scraper.
 * Prints a table.
 */
public final class DeltaAnswers {
  private static final int QUEUES = 8;
  private static final int SERIES_OF_A_QUEUE = 12_500;
  private static final int STRIDE = 14;
  private static final int WARM_ROUNDS = 10;
  private static final int ROUNDS = 20;
  private static final int PLACES = 4;
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final List<String> SCRAPERS = List.of("first", "p0", "p1", "p2", "p3");

  private long nextOffset;

  private DeltaAnswers() {}

  public static void main(String[] args) throws Exception {
    new DeltaAnswers().run();
  }

  private void run() throws Exception {
    int series = QUEUES * SERIES_OF_A_QUEUE;
    long empty = usedBytes();
    try (DeltaPages pages = pages()) {
      pages.start();
      give(pages, "first");
      fold(pages, true);
      pages.await(PATIENCE);
      long begun = usedBytes();
      System.out.printf("| | |%n|---|---|%n| series | %,d |%n", series);
      System.out.printf(
          "| heap of a series, its labels and one kept window | %,d bytes |%n",
          (begun - empty) / series);
      measure(pages);
      for (int place = 0; place < PLACES; place++) {
        give(pages, "p" + place);
        fold(pages, false);
      }
      pages.await(PATIENCE);
      long before = usedBytes();
      long sums = pages.totals().pendingSeries();
      System.out.printf(
          "| heap of a series in each further sum that is kept | %,d bytes |%n",
          (before - begun) / Math.max(1, sums - series));
    }
  }

  private void measure(DeltaPages pages) throws Exception {
    long foldNanos = 0;
    long takeNanos = 0;
    long writeNanos = 0;
    Counted counted = new Counted();
    for (int round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      boolean counts = round >= WARM_ROUNDS;
      List<SealedWindow> windows = windows(false);
      long start = System.nanoTime();
      windows.forEach(pages::window);
      pages.await(PATIENCE);
      long folded = System.nanoTime();
      Answer answer = pages.take("first", "here", PATIENCE);
      long taken = System.nanoTime();
      counted.lines = 0;
      counted.bytes = 0;
      answer.writeTo(counted);
      long written = System.nanoTime();
      pages.commit(answer);
      pages.settle(answer, true);
      if (counts) {
        foldNanos += folded - start;
        takeNanos += taken - folded;
        writeNanos += written - taken;
      }
    }
    System.out.printf("| lines of an answer | %,d |%n", counted.lines);
    System.out.printf("| bytes of an answer | %,d |%n", counted.bytes);
    System.out.printf(
        "| to fold the windows of all queues | %.1f ms |%n", foldNanos / 1e6 / ROUNDS);
    System.out.printf("| to take an answer | %.2f ms |%n", takeNanos / 1e6 / ROUNDS);
    System.out.printf("| to write an answer | %.1f ms |%n", writeNanos / 1e6 / ROUNDS);
    System.out.printf(
        "| to write a line | %.1f ns |%n", (double) writeNanos / ROUNDS / counted.lines);
  }

  private static DeltaPages pages() {
    return new DeltaPages(
        new OzheraConfig(null, null, null, SCRAPERS, null),
        STRIDE,
        "group",
        Duration.ofSeconds(15),
        Long.MAX_VALUE,
        Duration.ofMinutes(5),
        new NoPlaces(),
        nanos -> {},
        Clock.systemUTC(),
        System::nanoTime);
  }

  private static void give(DeltaPages pages, String scraper) throws Exception {
    Answer answer = pages.take(scraper, "here", PATIENCE);
    pages.commit(answer);
    pages.settle(answer, true);
  }

  private void fold(DeltaPages pages, boolean first) {
    windows(first).forEach(pages::window);
  }

  private List<SealedWindow> windows(boolean first) {
    List<SealedWindow> windows = new ArrayList<>();
    for (int queue = 0; queue < QUEUES; queue++) {
      windows.add(window(queue, first));
    }
    nextOffset++;
    return windows;
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
      created.add(definition(queue, row));
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

  /** One of gRPC: with the histogram and counters that each set of labels has, and no others. */
  private static SeriesDefinition definition(int queue, int number) {
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

  private static long usedBytes() {
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      used = Math.min(used, runtime.totalMemory() - runtime.freeMemory());
    }
    return used;
  }

  /** Counts what is written. */
  private static final class Counted extends OutputStream {
    private long lines;
    private long bytes;

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] written, int from, int length) {
      bytes += length;
      for (int i = from; i < from + length; i++) {
        lines += written[i] == '\n' ? 1 : 0;
      }
    }
  }

  /** No broker. */
  private static final class NoPlaces implements ScraperPlaces {
    private final Map<String, Long> marks = new ConcurrentHashMap<>();

    @Override
    public long mark(QueueId queue, String group) {
      return marks.getOrDefault(queue + " " + group, JournalLog.NONE);
    }

    @Override
    public void mark(QueueId queue, String group, long offset) {
      marks.put(queue + " " + group, offset);
    }

    @Override
    public void read(
        QueueId queue,
        long sinceMillis,
        Consumer<QueueImage> snapshots,
        Predicate<SealedWindow> windows) {
      // There is nothing.
    }
  }
}
