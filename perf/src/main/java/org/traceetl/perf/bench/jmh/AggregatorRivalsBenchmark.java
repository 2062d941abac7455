package org.traceetl.perf.bench.jmh;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.perf.bench.load.ClientLibrary;
import org.traceetl.perf.bench.load.SpanStream;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.window.Buckets;
import org.traceetl.server.window.WindowMetrics;

/**
 * Records one span as a count and a duration; time per span, over the same spans. One variant is a
 * window of this server, given the number of the series. The next is a counter and a histogram of
 * Prometheus' client libraries, given the children of the series. The last looks the children up by
 * label values, as an aggregator must. Decoding, and finding the series' number in this server, are
 * in {@link RecordBenchmark}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class AggregatorRivalsBenchmark {
  private static final int BATCHES = 256;
  private static final int SPANS_OF_A_BATCH = 512;
  private static final int SPANS = BATCHES * SPANS_OF_A_BATCH;

  private final HistogramConfig histogram = new HistogramConfig(null);
  private final double[] boundsMillis =
      histogram.boundsMillis().stream().mapToDouble(Double::doubleValue).toArray();
  private final Buckets buckets = new Buckets(histogram.boundsNanos());
  private final WindowMetrics metrics = new WindowMetrics(buckets.count(), 0, 0, 0, false);
  private final ClientLibrary simpleclient = ClientLibrary.simpleclient(boundsMillis);
  private final ClientLibrary clientJava = ClientLibrary.clientJava(boundsMillis);

  private final long[] durationNanos = new long[SPANS];
  private final int[] series = new int[SPANS];
  private final List<String[]> labels = new ArrayList<>();
  private ClientLibrary.Child[] simpleclientChildren;
  private ClientLibrary.Child[] clientJavaChildren;

  /** Reads the spans, and numbers the combinations of labels. */
  @Setup(Level.Trial)
  public void setUp() {
    var reader = new SpanBatchReader();
    Map<List<String>, Integer> numbers = new HashMap<>();
    int span = 0;
    for (byte[] batch :
        new SpanStream(1, 30, 50).batches(BATCHES, SPANS_OF_A_BATCH, SPANS_OF_A_BATCH)) {
      reader.wrap(batch, 0, batch.length);
      while (reader.next()) {
        List<String> values =
            List.of(
                text(reader, reader.application()),
                text(reader, reader.name()),
                "SPAN_KIND_" + reader.kind(),
                "STATUS_CODE_" + reader.status());
        durationNanos[span] = reader.durationNanos();
        series[span] =
            numbers.computeIfAbsent(
                values,
                key -> {
                  labels.add(key.toArray(String[]::new));
                  return labels.size() - 1;
                });
        span++;
      }
    }
    simpleclientChildren = children(simpleclient);
    clientJavaChildren = children(clientJava);
  }

  private ClientLibrary.Child[] children(ClientLibrary library) {
    return labels.stream()
        .map(values -> library.child(values[0], values[1], values[2], values[3]))
        .toArray(ClientLibrary.Child[]::new);
  }

  private static String text(SpanBatchReader reader, int entry) {
    return new String(
        reader.buffer(),
        reader.dictionaryOffset(entry),
        reader.dictionaryLength(entry),
        StandardCharsets.UTF_8);
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void window() {
    for (int span = 0; span < SPANS; span++) {
      int row = metrics.row(series[span]);
      if (row < 0) {
        row = metrics.open(series[span]);
      }
      metrics.add(row, buckets.of(durationNanos[span]), 1, durationNanos[span]);
    }
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void simpleclientKeptChildren() {
    record(simpleclientChildren);
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void simpleclientLookedUp() {
    record(simpleclient);
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void clientJavaKeptChildren() {
    record(clientJavaChildren);
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void clientJavaLookedUp() {
    record(clientJava);
  }

  private void record(ClientLibrary.Child[] children) {
    for (int span = 0; span < SPANS; span++) {
      children[series[span]].record(durationNanos[span] / 1e6);
    }
  }

  private void record(ClientLibrary library) {
    for (int span = 0; span < SPANS; span++) {
      String[] values = labels.get(series[span]);
      library.child(values[0], values[1], values[2], values[3]).record(durationNanos[span] / 1e6);
    }
  }
}
