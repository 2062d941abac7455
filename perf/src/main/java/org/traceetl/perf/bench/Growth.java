package org.traceetl.perf.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.traceetl.perf.load.DistinctSeries;
import org.traceetl.perf.load.RecordLoad;
import org.traceetl.perf.load.SpanStream;
import org.traceetl.perf.report.Chart;
import org.traceetl.perf.report.Results;
import org.traceetl.server.config.HistogramConfig;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * CPU nanoseconds of a worker for a span (decode, find the series, record, and its share of the
 * swaps) against one quantity at a time. The others stay as they are in the realistic case: 30
 * applications of 50 operations, two dimensions and so 20,000 series, 12 attributes, 256 to 1,024
 * spans a batch, four queues. Against series, all are equally frequent: the worst case for caches.
 */
@Command(
    name = "growth",
    description = "Measures CPU ns per span against sizes of the load, one at a time.")
public final class Growth implements Callable<Integer> {
  private static final int MIN_SPANS = 256;
  private static final int MAX_SPANS = 1_024;
  private static final int PAIRS = 256;
  private static final int QUEUES = 4;
  private static final int SPANS_PER_WINDOW = 4_000_000;
  private static final int SPANS_PER_SAMPLE = 1_000_000;

  @Mixin private Results results;

  @Option(
      names = "--samples",
      description = "Samples of a million spans for each value (default: ${DEFAULT-VALUE}).")
  private int samples = 7;

  @Option(names = "--help", usageHelp = true, description = "Show this.")
  private boolean help;

  private final Map<String, Object> pairs = new LinkedHashMap<>();

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Growth()).execute(arguments));
  }

  private interface Load {
    RecordLoad of(int value);
  }

  @Override
  public Integer call() throws Exception {
    results.columns("dimension", "value", "ns_per_span");
    for (int warmUp = 0; warmUp < 2 * samples; warmUp++) {
      sample(usual());
    }
    curve("series", Growth::distinctSeries, 1_000, 10_000, 100_000, 1_000_000);
    curve(
        "applications",
        applications -> load(new SpanStream(1, applications, 50), QUEUES),
        1,
        10,
        100,
        1_000,
        5_000);
    curve(
        "attributes",
        attributes -> load(new SpanStream(1, 30, 50, attributes), QUEUES),
        2,
        6,
        12,
        24,
        48);
    curve("batch_spans", Growth::batchesOf, 16, 64, 256, 1_024, 4_096);
    curve("queues", queues -> load(new SpanStream(1, 30, 50), queues), 1, 4, 16, 64);
    workers();
    results.summary("growth", pairs);
    return 0;
  }

  private static RecordLoad usual() {
    return load(new SpanStream(1, 30, 50), QUEUES);
  }

  private static RecordLoad load(SpanStream stream, int queues) {
    return load(stream.pairs(PAIRS, MIN_SPANS, MAX_SPANS), queues);
  }

  private static RecordLoad load(List<byte[]> batches, int queues) {
    return new RecordLoad(
        batches, SpanStream.DIMENSIONS, HistogramConfig.Kind.CLASSIC, queues, SPANS_PER_WINDOW);
  }

  private static RecordLoad distinctSeries(int series) {
    return load(new DistinctSeries(30, series, MAX_SPANS / 2).batches(), QUEUES);
  }

  private static RecordLoad batchesOf(int spans) {
    int count = PAIRS * (MIN_SPANS + MAX_SPANS) / spans;
    return load(new SpanStream(1, 30, 50).batches(count, spans, spans), QUEUES);
  }

  private void curve(String dimension, Load load, int... values) throws Exception {
    double[] nanos = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      RecordLoad ofValue = load.of(values[i]);
      // The first ones make the series and the memory.
      sample(ofValue);
      sample(ofValue);
      double[] all = new double[samples];
      for (int sample = 0; sample < samples; sample++) {
        all[sample] = sample(ofValue);
      }
      nanos[i] = median(all);
      results.row(dimension, values[i], nanos[i]);
    }
    chart(dimension, values, nanos);
    pairs.put(dimension + "_ns_first", nanos[0]);
    pairs.put(dimension + "_ns_last", nanos[nanos.length - 1]);
  }

  private void chart(String dimension, int[] values, double[] nanos) throws Exception {
    new Chart(
            "CPU for a span against " + dimension.replace('_', ' '),
            dimension.replace('_', ' '),
            "ns per span")
        .logarithmicX()
        .curve("server", Arrays.stream(values).asDoubleStream().toArray(), nanos)
        .write(results.file("growth-" + dimension.replace('_', '-') + ".svg"));
  }

  /** One worker alone, then two at once, in turns: two cores share memory and caches. */
  private void workers() throws Exception {
    List<RecordLoad> loads = List.of(usual(), usual());
    double[] one = new double[samples];
    double[] two = new double[samples];
    double[] oneRate = new double[samples];
    double[] twoRate = new double[samples];
    try (ExecutorService threads = Executors.newFixedThreadPool(loads.size())) {
      for (int sample = -2; sample < samples; sample++) {
        Workers alone = sampleAll(threads, loads.subList(0, 1));
        Workers both = sampleAll(threads, loads);
        if (sample >= 0) {
          one[sample] = alone.cpuNanos;
          two[sample] = both.cpuNanos;
          oneRate[sample] = alone.spansPerSecond;
          twoRate[sample] = both.spansPerSecond;
        }
      }
    }
    double[] nanos = {median(one), median(two)};
    results.row("workers", 1, nanos[0]);
    results.row("workers", 2, nanos[1]);
    chart("workers", new int[] {1, 2}, nanos);
    pairs.put("two_workers_speedup", median(twoRate) / median(oneRate));
    pairs.put("two_workers_cpu_ratio", nanos[1] / nanos[0]);
  }

  /**
   * A sample of one or more workers at once.
   *
   * @param cpuNanos for a span
   * @param spansPerSecond of all, until the last was done
   */
  private record Workers(double cpuNanos, double spansPerSecond) {}

  private static Workers sampleAll(ExecutorService threads, List<RecordLoad> loads)
      throws Exception {
    long startNanos = System.nanoTime();
    long spans = 0;
    List<Future<Double>> running = new ArrayList<>();
    for (RecordLoad load : loads) {
      running.add(threads.submit(() -> sample(load)));
      spans += (long) Math.ceilDiv(SPANS_PER_SAMPLE, load.spans()) * load.spans();
    }
    double sum = 0;
    for (Future<Double> nanos : running) {
      sum += nanos.get();
    }
    return new Workers(sum / loads.size(), spans * 1e9 / (System.nanoTime() - startNanos));
  }

  /** CPU nanoseconds of this thread for a span. */
  private static double sample(RecordLoad load) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long startNanos = threads.getCurrentThreadCpuTime();
    int spans = 0;
    while (spans < SPANS_PER_SAMPLE) {
      load.round();
      spans += load.spans();
    }
    return (double) (threads.getCurrentThreadCpuTime() - startNanos) / spans;
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
