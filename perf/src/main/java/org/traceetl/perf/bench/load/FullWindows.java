package org.traceetl.perf.bench.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/**
 * Generates consecutive windows of one queue in which all series have spans: a few dozen in about
 * five buckets; 100 agents, 200 documents, 20 applications.
 */
public final class FullWindows {
  private static final long OPENED_MILLIS = 1_790_000_000_000L;
  private static final long WINDOW_MILLIS = 15_000;
  private static final long EPOCH = 7;
  private static final long FIRST_OFFSET = 1_000_000;
  private static final long MESSAGES = 7_500;
  private static final int APPLICATIONS = 20;
  private static final int AGENTS = 100;
  private static final int DOCUMENTS = 200;

  private final Random random = new Random(1);
  private final QueueId queue;
  private final int series;
  private final int stride;
  private final long schema;
  private int number;

  /**
   * @param image the queue's image, which defines the schema
   */
  public FullWindows(QueueId queue, int series, QueueImage image) {
    this.queue = queue;
    this.series = series;
    stride = image.stride();
    schema = image.schema();
  }

  /** Returns the next window; the first one creates the series. */
  public SealedWindow next() {
    boolean creates = number == 0;
    long openedMillis = OPENED_MILLIS + WINDOW_MILLIS * number;
    long[] counts = new long[series * stride];
    long[] durationNanos = new long[series];
    int[] exemplars = new int[series];
    int[] exemplarBuckets = new int[series];
    List<SeriesDefinition> created = new ArrayList<>();
    for (int row = 0; row < series; row++) {
      int typical = random.nextInt(2, stride - 3);
      for (int span = random.nextInt(1, 60); span > 0; span--) {
        counts[
            row * stride
                + Math.clamp(typical + Math.round(random.nextGaussian()), 0, stride - 1)]++;
        durationNanos[row] += random.nextLong(1_000_000_000);
      }
      exemplars[row] = row < DOCUMENTS ? row : -1;
      if (creates) {
        created.add(
            new SeriesDefinition(
                row,
                openedMillis + random.nextInt(15_000),
                false,
                List.of(
                    "application-" + row % APPLICATIONS,
                    "GET /api/v1/resource/" + row / 4,
                    "2",
                    "0")));
      }
    }
    List<TraceDocument> documents = new ArrayList<>();
    for (int i = 0; i < Math.min(DOCUMENTS, series); i++) {
      documents.add(
          new TraceDocument(
              "%016x%016x".formatted(random.nextLong(), random.nextLong()),
              "%016x".formatted(random.nextLong()),
              "application-" + i % APPLICATIONS,
              "GET /api/v1/resource/" + i / 4,
              2,
              2,
              "connection refused",
              (openedMillis + random.nextInt(15_000)) * 1_000_000,
              random.nextLong(2_000_000_000),
              TraceDocument.Reason.ERROR,
              Map.of(
                  "http.route", "/api/v1/resource/" + i / 4,
                  "host.name", "host-" + random.nextInt(AGENTS),
                  "error.type", "java.net.ConnectException")));
    }
    AcceptedBatches.Builder batches = new AcceptedBatches.Builder(AGENTS);
    Random ids = new Random(2);
    for (int agent = 0; agent < AGENTS; agent++) {
      batches.add(
          ids.nextLong(), ids.nextLong(), EPOCH, 10_000 + 75 * number, 10_074 + 75 * number);
    }
    List<Books> books = new ArrayList<>();
    for (int application = 0; application < APPLICATIONS; application++) {
      books.add(new Books("application-" + application, 30_000, 30_000, 0, 0, 0, Map.of(), 0));
    }
    int[] numbers = new int[series];
    Arrays.setAll(numbers, row -> row);
    SealedWindow window =
        new SealedWindow(
            queue,
            FIRST_OFFSET + MESSAGES * number,
            FIRST_OFFSET + MESSAGES * (number + 1),
            openedMillis,
            openedMillis + WINDOW_MILLIS,
            created,
            new int[0],
            series,
            stride,
            numbers,
            counts,
            durationNanos,
            exemplars,
            exemplarBuckets,
            documents,
            books,
            schema,
            new long[series],
            batches.take(),
            NativeCounts.NONE,
            WindowPanes.NONE,
            WindowCompleteness.NONE,
            SealedWindow.UNKNOWN_CLOSED,
            false,
            EdgeChange.NONE);
    number++;
    return window;
  }
}
