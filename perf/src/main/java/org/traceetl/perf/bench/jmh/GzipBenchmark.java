package org.traceetl.perf.bench.jmh;

import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.perf.bench.load.TouchedWindows;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.features.pages.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;

/**
 * Compresses an OpenMetrics page of 100,000 samples in independent pieces, by length of a piece and
 * level; time per page. After each trial it prints the compressed bytes.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
@Fork(1)
public class GzipBenchmark {
  private static final int SERIES = 5_000;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  @Param({"16000", "32000", "65274", "131000", "1000000"})
  private int pieceBytes;

  @Param({"1", "2", "6"})
  private int level;

  private byte[] page;
  private long deflatedBytes;
  private Deflater deflater;
  private final byte[] out = new byte[1 << 20];

  @Setup(Level.Trial)
  public void setUp() throws Exception {
    HistogramConfig histogram = new HistogramConfig(null);
    try (var pages =
        new SpanPages(
            new SpanNaming(MetricsConfig.defaults(), SeriesConfig.defaults(), histogram),
            System::nanoTime,
            nanos -> {})) {
      pages.start();
      pages.window(new TouchedWindows(0, SERIES, histogram.boundsMillis().size() + 1).first());
      pages.await(PATIENCE);
      var bytes = new ByteArrayOutputStream();
      pages.page(Encoding.OPENMETRICS, PATIENCE).writeTo(bytes);
      page = bytes.toByteArray();
    }
    deflater = new Deflater(level, true);
  }

  @Benchmark
  public long deflate() {
    long length = 0;
    for (int from = 0; from < page.length; from += pieceBytes) {
      deflater.reset();
      deflater.setInput(page, from, Math.min(pieceBytes, page.length - from));
      int bytes;
      do {
        bytes = deflater.deflate(out, 0, out.length, Deflater.SYNC_FLUSH);
        length += bytes;
      } while (bytes == out.length);
    }
    deflatedBytes = length;
    return length;
  }

  @TearDown(Level.Trial)
  public void tearDown() {
    System.out.printf("%n%,d bytes of %,d%n", deflatedBytes, page.length);
    deflater.end();
  }
}
