package org.traceetl.perf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.PipelineListener;
import org.traceetl.server.consume.QueueAggregator;
import org.traceetl.server.journal.MalformedRecordException;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.RecordWriter;
import org.traceetl.server.journal.SnapshotFormat;
import org.traceetl.server.journal.WindowFormat;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;

/**
 * The journal's records of one queue as bytes, time per record: a window that touches all of its
 * series, the first one, which makes them too, and a snapshot; and an owner made of a snapshot. A
 * row has a few dozen spans in some five buckets; 100 agents, 200 documents, 20 applications. What
 * the records take is printed first.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
public class JournalBenchmark {
  private static final QueueId QUEUE = new QueueId("broker", 0);
  private static final long OPENED_MILLIS = 1_790_000_000_000L;
  private static final int APPLICATIONS = 20;
  private static final int AGENTS = 100;
  private static final int DOCUMENTS = 200;

  @Param({"1000", "20000", "100000"})
  private int series;

  private final Random random = new Random(1);
  private final RecordWriter writer = new RecordWriter();
  private Aggregation aggregation;
  private SealedWindow first;
  private SealedWindow window;
  private byte[] firstBytes;
  private byte[] windowBytes;
  private QueueImage image;
  private byte[] imageBytes;

  @Setup(Level.Trial)
  public void setUp() {
    aggregation =
        new Aggregation(
            SeriesConfig.defaults(),
            new HistogramConfig(null),
            DocumentsConfig.defaults(),
            new WindowConfig(null, null));
    image = aggregation.newImage();
    first = window(0, true);
    window = window(1, false);
    image.apply(first);
    image.apply(window);
    firstBytes = encoded(first);
    windowBytes = encoded(window);
    writer.clear();
    SnapshotFormat.encode(image, writer);
    imageBytes = writer.toByteArray();
    System.out.printf(
        "# %,d series: first window %,d bytes, a later one %,d, snapshot %,d%n",
        series, firstBytes.length, windowBytes.length, imageBytes.length);
  }

  private SealedWindow window(int number, boolean creates) {
    int stride = image.stride();
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
                OPENED_MILLIS + random.nextInt(15_000),
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
              (OPENED_MILLIS + random.nextInt(15_000)) * 1_000_000,
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
          ids.nextLong(),
          ids.nextLong(),
          OPENED_MILLIS,
          10_000 + 75 * number,
          10_074 + 75 * number);
    }
    List<Books> books = new ArrayList<>();
    for (int application = 0; application < APPLICATIONS; application++) {
      books.add(new Books("application-" + application, 30_000, 30_000, 0, 0, 0, Map.of(), 0));
    }
    int[] numbers = new int[series];
    Arrays.setAll(numbers, row -> row);
    return new SealedWindow(
        QUEUE,
        1_000_000 + 7_500L * number,
        1_007_500 + 7_500L * number,
        OPENED_MILLIS,
        OPENED_MILLIS + 15_000,
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
        image.schema(),
        new long[series],
        batches.take());
  }

  private byte[] encoded(SealedWindow sealed) {
    writer.clear();
    WindowFormat.encode(sealed, writer);
    return writer.toByteArray();
  }

  @Benchmark
  public int encodeWindow() {
    return encode(window);
  }

  @Benchmark
  public int encodeFirstWindow() {
    return encode(first);
  }

  private int encode(SealedWindow sealed) {
    writer.clear();
    WindowFormat.encode(sealed, writer);
    return writer.size();
  }

  @Benchmark
  public SealedWindow decodeWindow() throws MalformedRecordException {
    return WindowFormat.decode(windowBytes, 0, windowBytes.length, QUEUE);
  }

  @Benchmark
  public SealedWindow decodeFirstWindow() throws MalformedRecordException {
    return WindowFormat.decode(firstBytes, 0, firstBytes.length, QUEUE);
  }

  @Benchmark
  public int encodeSnapshot() {
    writer.clear();
    SnapshotFormat.encode(image, writer);
    return writer.size();
  }

  @Benchmark
  public QueueImage decodeSnapshot() throws MalformedRecordException {
    QueueImage decoded = aggregation.newImage();
    SnapshotFormat.decode(imageBytes, 0, imageBytes.length, decoded);
    return decoded;
  }

  @Benchmark
  public QueueAggregator newOwner() {
    return aggregation.newAggregator(QUEUE, aggregation.newDecoder(), PipelineListener.NONE, image);
  }
}
