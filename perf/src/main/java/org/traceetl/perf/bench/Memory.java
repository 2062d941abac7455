package org.traceetl.perf.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.load.DistinctSeries;
import org.traceetl.perf.load.RenamedBatch;
import org.traceetl.perf.report.Results;
import org.traceetl.server.consume.FilledWindow;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.consume.QueueAggregator;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What a histogram series of 16 bounds takes, by where it lives: differences of the heap after full
 * collections. Then a process with the options that the server is shipped with holds a million of
 * them ({@link MillionSeries}).
 */
@Command(
    name = "memory",
    description = "Measures the bytes of a series, and a process with a million of them.")
public final class Memory implements Callable<Integer> {
  static final QueueId QUEUE = new QueueId("broker", 0);
  private static final int APPLICATIONS = 100;
  private static final int SPANS = 512;
  private static final int LABELLED_SERIES = 10_000;
  private static final int ARRAY_HEADER_BYTES = 16;
  private static final String CALLS = "traces_span_metrics_calls_total{";
  private static final long OPENED_MILLIS = 1_790_000_000_000L;
  private static final Path OPTIONS = Path.of("deploy", "jvm", "trace-etl-server.options");

  @Mixin private Results results;

  @Option(
      names = "--series",
      split = ",",
      description = "Series of the queue (default: ${DEFAULT-VALUE}).")
  private List<Integer> sizes = List.of(10_000, 100_000, 500_000);

  @Option(
      names = "--process-series",
      description = "Series of the process (default: ${DEFAULT-VALUE}).")
  private int processSeries = 1_000_000;

  @Option(
      names = "--options",
      description = "JVM options of the process (default: ${DEFAULT-VALUE}).")
  private Path options = OPTIONS;

  @Option(names = "--help", usageHelp = true, description = "Show this.")
  private boolean help;

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Memory()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    results.columns(
        "series",
        "key_and_labels_share_bytes",
        "open_windows_bytes",
        "page_series_bytes",
        "bytes_per_series",
        "rendered_labels_bytes");
    double rendered = renderedLabelsBytes();
    double perSeries = 0;
    for (int series : sizes) {
      perSeries = measure(series, rendered);
    }
    Map<String, Object> pairs = new LinkedHashMap<>();
    pairs.put("bytes_per_series", perSeries);
    pairs.putAll(process());
    results.summary("memory", pairs);
    return 0;
  }

  private double measure(int series, double rendered) throws Exception {
    List<RenamedBatch> batches =
        new DistinctSeries(APPLICATIONS, series, SPANS)
            .batches().stream().map(RenamedBatch::new).toList();
    QueueImage image = MillionSeries.AGGREGATION.newImage();
    image.apply(firstWindow(batches));

    SpanPages pages = MillionSeries.pages();
    double base = heapBytes();
    pages.restored(QUEUE, image, System.nanoTime());
    pages.await(Duration.ofMinutes(1));
    double withPages = heapBytes();
    QueueAggregator aggregator =
        MillionSeries.AGGREGATION.newAggregator(
            QUEUE, MillionSeries.AGGREGATION.newDecoder(), new PipelineMetrics(), image);
    double withKeys = heapBytes();
    for (int window = 1; window < 4; window++) {
      record(aggregator, batches, window);
      aggregator.swap(window, OPENED_MILLIS + window * 1_000L).giveBack();
    }
    double withWindows = heapBytes();

    double keys = (withKeys - withPages) / series;
    double windows = (withWindows - withKeys) / series;
    double ofPages = (withPages - base) / series - rendered;
    results.row(series, keys, windows, ofPages, keys + windows + ofPages, rendered);
    aggregator.swap(9, OPENED_MILLIS); // keeps it alive until here
    pages.close();
    return keys + windows + ofPages;
  }

  private static SealedWindow firstWindow(List<RenamedBatch> batches) {
    QueueAggregator aggregator =
        MillionSeries.AGGREGATION.newAggregator(
            QUEUE, MillionSeries.AGGREGATION.newDecoder(), new PipelineMetrics());
    aggregator.beginAt(0);
    record(aggregator, batches, 0);
    FilledWindow filled = aggregator.swap(1, OPENED_MILLIS);
    return filled.seal();
  }

  private static void record(QueueAggregator aggregator, List<RenamedBatch> batches, int window) {
    for (int batch = 0; batch < batches.size(); batch++) {
      aggregator.accept(
          batches.get(batch).named((long) window * batches.size() + batch),
          OPENED_MILLIS + window * 1_000L);
    }
  }

  /** Mean size of the labels as the pages keep them: a text with its array's header. */
  private static double renderedLabelsBytes() throws Exception {
    List<RenamedBatch> batches =
        new DistinctSeries(APPLICATIONS, LABELLED_SERIES, SPANS)
            .batches().stream().map(RenamedBatch::new).toList();
    try (SpanPages pages = MillionSeries.pages()) {
      QueueImage image = MillionSeries.AGGREGATION.newImage();
      image.apply(firstWindow(batches));
      pages.restored(QUEUE, image, System.nanoTime());
      pages.shownUntil(QUEUE, Long.MAX_VALUE / 2);
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      pages.page(Encoding.TEXT, Duration.ofMinutes(1)).writeTo(text);
      return text.toString(UTF_8)
          .lines()
          .filter(line -> line.startsWith(CALLS))
          .mapToInt(line -> line.lastIndexOf('}') - CALLS.length())
          .mapToLong(bytes -> (ARRAY_HEADER_BYTES + bytes + 7) / 8 * 8)
          .average()
          .orElseThrow();
    }
  }

  static double heapBytes() {
    Runtime runtime = Runtime.getRuntime();
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** What the process with a million series prints as its last line. */
  private Map<String, String> process() throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + options);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), MillionSeries.class.getName()));
    command.add(Integer.toString(processSeries));
    Path log = Files.createTempFile("trace-etl-memory", ".log");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      if (!process.waitFor(4, TimeUnit.MINUTES) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new IllegalStateException("It failed, and said: " + Files.readString(log));
      }
      List<String> lines = Files.readAllLines(log);
      lines.forEach(System.out::println);
      Map<String, String> pairs = new LinkedHashMap<>();
      for (String pair : lines.getLast().split(" ")) {
        pairs.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
      }
      return pairs;
    } finally {
      Files.delete(log);
    }
  }
}
