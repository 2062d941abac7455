package org.traceetl.perf.bench;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.traceetl.perf.load.ClientLibrary;
import org.traceetl.perf.load.TouchedWindows;
import org.traceetl.perf.load.TouchedWindows.Touch;
import org.traceetl.perf.report.Results;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Page;
import org.traceetl.server.features.pages.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.window.SealedWindow;

/**
 * A page of so many samples built after a window of every queue, by share of the series that the
 * windows touch, and sent; in turns with the client libraries' writers over the same series.
 */
final class BuiltPages {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int QUEUES = 8;
  private static final int WARM_UPS = 6;
  private static final int LIBRARY_WARM_UPS = 1;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final HistogramConfig histogram = new HistogramConfig(null);
  private final double[] boundsMillis =
      histogram.boundsMillis().stream().mapToDouble(Double::doubleValue).toArray();
  private final int stride = boundsMillis.length + 1;
  private final int seriesOfAQueue;
  private final List<Double> touched;
  private final int rounds;
  private final Results results;
  private final Map<String, Measured> measured = new LinkedHashMap<>();

  /**
   * @param samples of a text page: 17 buckets, sum, count and counter a series
   */
  BuiltPages(int samples, List<Double> touched, int rounds, Results results) {
    seriesOfAQueue = Math.max(1, samples / (stride + 3) / QUEUES);
    this.touched = touched;
    this.rounds = rounds;
    this.results = results;
  }

  private record Sample(double wallMillis, double cpuMillis, long bytes) {}

  /** The rounds of one thing. */
  private record Measured(String what, double touchedPercent, List<Sample> samples) {
    double wallMillis() {
      return median(samples.stream().mapToDouble(Sample::wallMillis));
    }

    double cpuMillis() {
      return median(samples.stream().mapToDouble(Sample::cpuMillis));
    }
  }

  private interface Work {
    /** How many bytes came of it. */
    long run() throws Exception;
  }

  void measure(Map<String, Object> summary) throws Exception {
    List<ClientLibrary> libraries =
        List.of(ClientLibrary.simpleclient(boundsMillis), ClientLibrary.clientJava(boundsMillis));
    libraries.forEach(this::fill);
    for (Encoding encoding :
        List.of(
            Encoding.TEXT, Encoding.OPENMETRICS, Encoding.TEXT_GZIP, Encoding.OPENMETRICS_GZIP)) {
      measure(encoding, libraries);
    }
    report(summary);
  }

  private void measure(Encoding encoding, List<ClientLibrary> libraries) throws Exception {
    boolean openMetrics = encoding.name().startsWith("OPENMETRICS");
    try (var pages =
        new SpanPages(
            new SpanNaming(MetricsConfig.defaults(), SeriesConfig.defaults(), histogram),
            System::nanoTime,
            nanos -> {})) {
      pages.start();
      long fold = threadId("fold");
      List<TouchedWindows> queues = new ArrayList<>();
      for (int queue = 0; queue < QUEUES; queue++) {
        queues.add(new TouchedWindows(queue, seriesOfAQueue, stride));
        pages.window(queues.getLast().first());
      }
      pages.page(encoding, PATIENCE);
      for (int round = -WARM_UPS; round < rounds; round++) {
        boolean counts = round >= 0;
        for (double share : touched) {
          for (Touch touch : Touch.values()) {
            if (share < 1 || touch == Touch.SCATTERED) {
              List<SealedWindow> windows = new ArrayList<>();
              queues.forEach(queue -> windows.add(queue.next(share, touch)));
              String what = encoding.label() + (share < 1 ? "_" + lower(touch) : "");
              run(counts, what, 100 * share, fold, () -> build(pages, encoding, windows));
            }
          }
        }
        Page page = pages.page(encoding, PATIENCE);
        run(counts, encoding.label() + "_to_nowhere", 0, self(), () -> send(page, nowhere()));
        run(counts, encoding.label() + "_to_loopback", 0, self(), () -> toLoopback(page));
        if (round >= -LIBRARY_WARM_UPS && encoding != Encoding.TEXT_GZIP) {
          for (ClientLibrary library : libraries) {
            String what = library.label() + "_" + encoding.label();
            run(counts, what, 100, self(), () -> write(library, openMetrics, encoding.gzip()));
          }
        }
      }
    }
  }

  private void run(boolean counts, String what, double percent, long thread, Work work)
      throws Exception {
    long startCpu = threads.getThreadCpuTime(thread);
    long startNanos = System.nanoTime();
    long bytes = work.run();
    double wallMillis = (System.nanoTime() - startNanos) / 1e6;
    double cpuMillis = (threads.getThreadCpuTime(thread) - startCpu) / 1e6;
    if (counts) {
      measured
          .computeIfAbsent(
              what + "_" + percent, key -> new Measured(what, percent, new ArrayList<>()))
          .samples
          .add(new Sample(wallMillis, cpuMillis, bytes));
    }
  }

  private static long build(SpanPages pages, Encoding encoding, List<SealedWindow> windows)
      throws Exception {
    windows.forEach(pages::window);
    pages.await(PATIENCE);
    return pages.page(encoding, PATIENCE).bytes();
  }

  private static long send(Page page, OutputStream out) throws IOException {
    page.writeTo(out);
    return page.bytes();
  }

  /** Sends it to a reader that throws it away, until the last byte is read. */
  private static long toLoopback(Page page) throws Exception {
    try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var sending = new Socket(listener.getInetAddress(), listener.getLocalPort());
        var receiving = listener.accept()) {
      Thread reader =
          Thread.ofPlatform()
              .start(() -> {
                try (var in = receiving.getInputStream()) {
                  in.transferTo(OutputStream.nullOutputStream());
                } catch (IOException e) {
                  throw new IllegalStateException(e);
                }
              });
      send(page, sending.getOutputStream());
      sending.shutdownOutput();
      reader.join();
    }
    return page.bytes();
  }

  private static long write(ClientLibrary library, boolean openMetrics, boolean gzip)
      throws IOException {
    var counting = new Counting();
    try (OutputStream out = gzip ? new GZIPOutputStream(counting) : counting) {
      library.write(openMetrics, out);
    }
    return counting.bytes;
  }

  /** Gives a library the series that the pages have, some spans in some seven buckets each. */
  private void fill(ClientLibrary library) {
    for (int queue = 0; queue < QUEUES; queue++) {
      var names = new TouchedWindows(queue, seriesOfAQueue, stride);
      for (int series = 0; series < seriesOfAQueue; series++) {
        List<String> labels = names.labels(series);
        ClientLibrary.Child child =
            library.child(labels.get(0), labels.get(1), "SPAN_KIND_SERVER", "STATUS_CODE_UNSET");
        int usual = 2 + series % (stride - 5);
        for (int bucket = Math.max(0, usual - 3); bucket < usual + 4; bucket++) {
          double millis = boundsMillis[Math.min(bucket, boundsMillis.length - 1)];
          for (int span = 0; span < 8; span++) {
            child.record(millis * (0.9 + 0.01 * span));
          }
        }
      }
    }
  }

  private void report(Map<String, Object> summary) {
    for (Measured one : measured.values()) {
      results.row(
          one.what,
          one.touchedPercent,
          seriesOfAQueue * QUEUES,
          one.wallMillis(),
          one.cpuMillis(),
          one.samples.getLast().bytes,
          "");
    }
    summary.put("samples", seriesOfAQueue * QUEUES * (stride + 3));
    for (String encoding : List.of("text", "openmetrics", "text_gzip", "openmetrics_gzip")) {
      Measured ours = measured.get(encoding + "_100.0");
      if (ours == null) {
        continue;
      }
      summary.put(encoding + "_cpu_ms", ours.cpuMillis());
      for (String library : List.of("simpleclient", "client_java")) {
        Measured theirs = measured.get(library + "_" + encoding + "_100.0");
        if (theirs != null) {
          summary.put(encoding + "_" + library + "_ratio", theirs.cpuMillis() / ours.cpuMillis());
        }
      }
    }
    for (Measured one : measured.values()) {
      if (one.what.equals("openmetrics_gzip_first")
          || one.what.equals("openmetrics_gzip_scattered")) {
        summary.put(
            one.what + "_" + Math.round(one.touchedPercent) + "_percent_cpu_ms", one.cpuMillis());
      }
    }
    summary.put(
        "gzip_to_loopback_ms", measured.get("openmetrics_gzip_to_loopback_0.0").wallMillis());
  }

  private static String lower(Touch touch) {
    return touch.name().toLowerCase(Locale.ROOT);
  }

  static double median(java.util.stream.DoubleStream values) {
    double[] sorted = values.sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private static long self() {
    return Thread.currentThread().threadId();
  }

  /** The live thread of that name. */
  private long threadId(String name) {
    return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
        .filter(thread -> thread != null && thread.getThreadName().equals(name))
        .mapToLong(ThreadInfo::getThreadId)
        .max()
        .orElseThrow();
  }

  private static OutputStream nowhere() {
    return new ByteArrayOutputStream(0) {
      private final byte[] buffer = new byte[64 * 1024];

      @Override
      public void write(byte[] bytes, int offset, int length) {
        // Copies, as a socket's buffer would be filled.
        for (int done = 0; done < length; done += buffer.length) {
          System.arraycopy(bytes, offset + done, buffer, 0, Math.min(buffer.length, length - done));
        }
      }
    };
  }

  /** Counts what it is given. */
  private static final class Counting extends OutputStream {
    private long bytes;

    @Override
    public void write(int value) {
      bytes++;
    }

    @Override
    public void write(byte[] written, int offset, int length) {
      bytes += length;
    }
  }
}
