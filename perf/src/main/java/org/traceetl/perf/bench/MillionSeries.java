package org.traceetl.perf.bench;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import org.traceetl.perf.load.DistinctSeries;
import org.traceetl.perf.load.RenamedBatch;
import org.traceetl.perf.load.SpanStream;
import org.traceetl.perf.process.Usage;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.FilledWindow;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.consume.QueueAggregator;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Page;
import org.traceetl.server.features.pages.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.journal.RecordWriter;
import org.traceetl.server.journal.WindowFormat;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * A process that holds many series as a server does, without RocketMQ: four queues, in each window
 * a span of every series, all windows sealed at once and written in the journal's format, folded,
 * and a compressed OpenMetrics page kept ready. A snapshot of the journal, which needs a second
 * image of one queue, is not in it. Prints a line for each window and one of pairs.
 */
public final class MillionSeries {
  static final SeriesConfig SERIES =
      new SeriesConfig(
          SpanStream.DIMENSIONS, null, 4_000_000, 4_000_000, null, 4_000_000, 1L << 30, null, null);

  static final Aggregation AGGREGATION =
      new Aggregation(
          SERIES,
          new HistogramConfig(null),
          DocumentsConfig.defaults(),
          new WindowConfig(Duration.ofSeconds(15), Duration.ofMinutes(15)));

  private static final int QUEUES = 4;
  private static final int WINDOWS = 6;
  private static final int APPLICATIONS = 100;
  private static final int SPANS = 512;
  private static final long OPENED_MILLIS = 1_790_000_000_000L;
  private static final double MEBIBYTE = 1 << 20;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final int series;
  private final SpanPages pages = pages();
  private final List<QueueAggregator> queues = new ArrayList<>();
  private final BatchDecoder decoder = AGGREGATION.newDecoder();
  private final Usage usage = new Usage(ProcessHandle.current().pid());
  private final long startNanos = System.nanoTime();
  private final LongAdder recorded = new LongAdder();
  private long spansGiven;
  private long recordNanos;
  private long sealNanos;
  private long pageNanos;
  private long encodedBytes;
  private long pageBytes;

  private MillionSeries(int series) {
    this.series = series;
  }

  /**
   * @param arguments the number of series
   */
  public static void main(String... arguments) throws Exception {
    new MillionSeries(Integer.parseInt(arguments[0])).run();
  }

  /** Pages that are made, of the series here. */
  static SpanPages pages() {
    SpanPages pages =
        new SpanPages(
            new SpanNaming(MetricsConfig.defaults(), SERIES, new HistogramConfig(null)),
            System::nanoTime,
            nanos -> {});
    pages.start();
    return pages;
  }

  private void run() throws Exception {
    for (int queue = 0; queue < QUEUES; queue++) {
      QueueId id = new QueueId("broker", queue);
      QueueAggregator aggregator = AGGREGATION.newAggregator(id, decoder, new PipelineMetrics());
      aggregator.beginAt(0);
      queues.add(aggregator);
      pages.restored(id, AGGREGATION.newImage(), System.nanoTime());
      pages.shownUntil(id, Long.MAX_VALUE / 2);
    }
    pages.page(Encoding.OPENMETRICS_GZIP, PATIENCE);
    Path batches = Files.createTempFile("trace-etl-memory", ".batches");
    try {
      write(batches);
      for (int window = 1; window <= WINDOWS; window++) {
        window(batches, window);
      }
    } finally {
      Files.delete(batches);
    }
    if (recorded.sum() != spansGiven) {
      throw new IllegalStateException(
          "of " + spansGiven + " spans " + recorded.sum() + " were recorded");
    }
    summarise();
    pages.close();
  }

  /** On disk, as they would take memory that a server does not take. */
  private void write(Path file) throws IOException {
    SpanBatchReader reader = new SpanBatchReader();
    try (var out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
      new DistinctSeries(APPLICATIONS, series, SPANS)
          .forEach(message -> {
            reader.wrap(message, 0, message.length);
            spansGiven += reader.spanCount() * (long) WINDOWS;
            try {
              out.writeInt(message.length);
              out.write(message);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      out.writeInt(0);
    }
  }

  private void window(Path batches, int window) throws Exception {
    long openedMillis = OPENED_MILLIS + window * 15_000L;
    long beganNanos = System.nanoTime();
    try (var in = new DataInputStream(new BufferedInputStream(Files.newInputStream(batches)))) {
      int number = 0;
      for (int length = in.readInt(); length > 0; length = in.readInt()) {
        RenamedBatch batch = new RenamedBatch(in.readNBytes(length));
        queues.get(number % QUEUES).accept(batch.named((long) window << 24 | number), openedMillis);
        number++;
      }
    }
    recordNanos = System.nanoTime() - beganNanos;

    beganNanos = System.nanoTime();
    encodedBytes = 0;
    try (ExecutorService sealers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Long>> sealing = new ArrayList<>();
      for (QueueAggregator queue : queues) {
        FilledWindow filled = queue.swap(window, openedMillis + 15_000);
        sealing.add(sealers.submit(() -> seal(filled)));
      }
      for (Future<Long> bytes : sealing) {
        encodedBytes += bytes.get();
      }
    }
    sealNanos = System.nanoTime() - beganNanos;

    beganNanos = System.nanoTime();
    pages.await(PATIENCE);
    Page page = pages.page(Encoding.OPENMETRICS_GZIP, PATIENCE);
    pageBytes = page.bytes();
    pageNanos = System.nanoTime() - beganNanos;
    System.out.printf(
        Locale.ROOT,
        "window=%d series=%d record_ms=%d seal_ms=%d fold_and_render_ms=%d resident_max_mb=%.0f%n",
        window,
        pages.totals().series(),
        recordNanos / 1_000_000,
        sealNanos / 1_000_000,
        pageNanos / 1_000_000,
        usage.mostResidentBytes() / MEBIBYTE);
  }

  private long seal(FilledWindow filled) {
    SealedWindow window = filled.seal();
    RecordWriter out = new RecordWriter();
    WindowFormat.encode(window, out);
    byte[] encoded = out.toByteArray();
    recorded.add(window.books().stream().mapToLong(Books::recorded).sum());
    pages.window(window);
    filled.giveBack();
    return encoded.length;
  }

  private void summarise() {
    double gcNanos = usage.cpuNanosByPart(Drain::part).getOrDefault(Drain.GC, 0L);
    System.out.printf(
        Locale.ROOT,
        "process_series=%d resident_max_mb=%.0f gc_share_of_cpu=%.3f seconds=%.1f record_ms=%d"
            + " seal_ms=%d window_mb=%.1f fold_and_render_gzip_ms=%d page_gzip_mb=%.1f%n",
        pages.totals().series(),
        usage.mostResidentBytes() / MEBIBYTE,
        gcNanos / usage.cpuNanos(),
        (System.nanoTime() - startNanos) / 1e9,
        recordNanos / 1_000_000,
        sealNanos / 1_000_000,
        encodedBytes / MEBIBYTE,
        pageNanos / 1_000_000,
        pageBytes / MEBIBYTE);
  }
}
