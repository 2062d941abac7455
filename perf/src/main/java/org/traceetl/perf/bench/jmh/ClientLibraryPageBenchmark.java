package org.traceetl.perf.bench.jmh;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.perf.bench.load.ClientLibrary;
import org.traceetl.perf.bench.load.TouchedWindows;
import org.traceetl.server.config.HistogramConfig;

/** Writes the page of {@link PageBenchmark} with Prometheus' client libraries; time per page. */
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 1, time = 3)
@Measurement(iterations = 4, time = 3)
@Fork(value = 1, jvmArgsAppend = "-Xmx3g")
public class ClientLibraryPageBenchmark extends StepBenchmark {
  @Param({"simpleclient", "client_java"})
  private String library;

  @Param({"false", "true"})
  private boolean openMetrics;

  @Param({"false", "true"})
  private boolean gzip;

  private ClientLibrary filled;

  /** Gives each series some spans in about seven buckets. */
  @Setup
  public void fill() {
    double[] boundsMillis =
        new HistogramConfig(null)
            .boundsMillis().stream().mapToDouble(Double::doubleValue).toArray();
    filled =
        library.equals("simpleclient")
            ? new ClientLibrary.Simpleclient(boundsMillis)
            : new ClientLibrary.ClientJava(boundsMillis);
    for (int queue = 0; queue < PageBenchmark.QUEUES; queue++) {
      var names =
          new TouchedWindows(queue, PageBenchmark.SERIES_OF_A_QUEUE, boundsMillis.length + 1);
      for (int series = 0; series < PageBenchmark.SERIES_OF_A_QUEUE; series++) {
        List<String> labels = names.labels(series);
        ClientLibrary.Child child =
            filled.child(labels.get(0), labels.get(1), "SPAN_KIND_SERVER", "STATUS_CODE_UNSET");
        int usual = 2 + series % (boundsMillis.length - 4);
        for (int bucket = Math.max(0, usual - 3); bucket < usual + 4; bucket++) {
          double millis = boundsMillis[Math.min(bucket, boundsMillis.length - 1)];
          for (int span = 0; span < 8; span++) {
            child.record(millis * (0.9 + 0.01 * span));
          }
        }
      }
    }
  }

  @Benchmark
  public void write() throws IOException {
    OutputStream nowhere = OutputStream.nullOutputStream();
    try (OutputStream out = gzip ? new GZIPOutputStream(nowhere) : nowhere) {
      filled.write(openMetrics, out);
    }
  }
}
