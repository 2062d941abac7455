package org.traceetl.perf.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.traceetl.perf.load.RenamedBatch;
import org.traceetl.perf.load.SpanStream;
import org.traceetl.perf.report.Results;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.component.Components;
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
import org.traceetl.server.features.pages.PagesFeature;
import org.traceetl.server.features.pages.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.web.AssembledServer;
import org.traceetl.server.web.WebServer;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Spans recorded as fast as workers can, from batches in memory, while the server's port is scraped
 * every few seconds or not at all, in turns. Not scraped means that no page is made either. Windows
 * go the way that they go in the server, but for the journal.
 */
final class ScrapedIngest {
  private static final int QUEUES_OF_A_WORKER = 8;
  private static final int BATCHES = 512;
  private static final int MIN_SPANS = 256;
  private static final int MAX_SPANS = 1_024;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** After so long without a scrape no page is made. */
  private static final Duration FORGOTTEN = Duration.ofMinutes(6);

  private static final int NEVER = 0;

  private final int workers;
  private final Duration window;
  private final Duration phase;
  private final int rounds;
  private final Results results;
  private final SeriesConfig series =
      new SeriesConfig(
          SpanStream.DIMENSIONS, null, 1_000_000, 1_000_000, null, null, null, null, null);
  private final HistogramConfig histogram = new HistogramConfig(null);
  private final AtomicLong skippedNanos = new AtomicLong();
  private final LongAdder spans = new LongAdder();
  private final LongAdder recorded = new LongAdder();
  private final LongAdder deferred = new LongAdder();
  private final LongAdder failedScrapes = new LongAdder();
  private final ConcurrentLinkedQueue<Pause> pauses = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();

  /** Of the workers, nanoseconds, by seconds between scrapes: says more on a busy machine. */
  private final Map<Integer, List<Double>> cpuPerSpan = new TreeMap<>();

  private volatile int everySeconds = NEVER;
  private volatile boolean ending;

  /** A worker's, for one queue's swap. */
  private record Pause(int everySeconds, long nanos) {}

  /**
   * @param workers threads that record
   * @param phase of being scraped in one way
   */
  ScrapedIngest(int workers, Duration window, Duration phase, int rounds, Results results) {
    this.workers = workers;
    this.window = window;
    this.phase = phase;
    this.rounds = rounds;
    this.results = results;
  }

  /**
   * @param prefix of what is put into the summary
   * @param periods of scrapes in seconds, each measured in each round
   */
  void measure(String prefix, List<Integer> periods, Map<String, Object> summary) throws Exception {
    var pages =
        new SpanPages(
            new SpanNaming(MetricsConfig.defaults(), series, histogram),
            () -> System.nanoTime() + skippedNanos.get(),
            nanos -> {});
    List<Integer> modes = new ArrayList<>(List.of(NEVER));
    modes.addAll(periods);
    Map<Integer, List<Double>> rates = new TreeMap<>();
    Map<Integer, List<Double>> drops = new TreeMap<>();
    try (WebServer server =
        WebServer.start(
            List.of(),
            Map.of("server.port", 0, "server.address", "127.0.0.1"),
            false,
            config -> pagesAlone(pages))) {
      startWorkers(pages);
      try {
        // Makes all series, compiles the code.
        rate(server, modes.getLast());
        pauses.clear();
        cpuPerSpan.clear();
        for (int round = 0; round < rounds; round++) {
          Map<Integer, Double> ofRound = new TreeMap<>();
          // What came first would else always have the colder or the less busy machine.
          for (int mode : round % 2 == 0 ? modes : modes.reversed()) {
            ofRound.put(mode, rate(server, mode));
          }
          ofRound.forEach((mode, rate) -> {
            rates.computeIfAbsent(mode, m -> new ArrayList<>()).add(rate);
            drops
                .computeIfAbsent(mode, m -> new ArrayList<>())
                .add(100 * (1 - rate / ofRound.get(NEVER)));
          });
        }
      } finally {
        ending = true;
        for (Thread thread : threads) {
          thread.join();
        }
      }
      holdRecorded();
      if (failedScrapes.sum() > 0) {
        throw new IllegalStateException(
            failedScrapes.sum() + " scrapes failed: the phases that had them say nothing");
      }
      report(prefix, modes, rates, drops, pages.totals().series(), summary);
    }
  }

  private void report(
      String prefix,
      List<Integer> modes,
      Map<Integer, List<Double>> rates,
      Map<Integer, List<Double>> drops,
      int shown,
      Map<String, Object> summary) {
    for (int mode : modes) {
      results.row(
          prefix + (mode == NEVER ? "unscraped" : "scraped_every_" + mode + "_s"),
          100,
          shown,
          "",
          "",
          "",
          median(rates.get(mode)));
      if (mode == NEVER) {
        summary.put(prefix + "spans_per_second", median(rates.get(mode)));
        summary.put(prefix + "cpu_ns_per_span", median(cpuPerSpan.get(mode)));
      } else {
        summary.put(
            prefix + "scraped_every_" + mode + "_s_cpu_ns_per_span", median(cpuPerSpan.get(mode)));
        summary.put(prefix + "scraped_every_" + mode + "_s_drop_percent", median(drops.get(mode)));
      }
    }
    Map<String, List<Pause>> byScrapes = new LinkedHashMap<>();
    for (Pause pause : pauses) {
      byScrapes
          .computeIfAbsent(
              pause.everySeconds == NEVER ? "unscraped" : "scraped", s -> new ArrayList<>())
          .add(pause);
    }
    byScrapes.forEach((scraped, list) -> {
      long[] sorted = list.stream().mapToLong(Pause::nanos).sorted().toArray();
      int at = Math.max(0, (int) Math.ceil(sorted.length * 0.999) - 1);
      summary.put(prefix + scraped + "_swaps", sorted.length);
      summary.put(prefix + scraped + "_swap_p999_us", sorted[at] / 1e3);
    });
    summary.put(prefix + "swaps_deferred", deferred.sum());
    summary.put(prefix + "failed_scrapes", failedScrapes.sum());
  }

  /** Of the workers so far. */
  private long cpuNanos() {
    ThreadMXBean beans = ManagementFactory.getThreadMXBean();
    return threads.stream().mapToLong(thread -> beans.getThreadCpuTime(thread.threadId())).sum();
  }

  private static double median(List<Double> values) {
    return BuiltPages.median(values.stream().mapToDouble(Double::doubleValue));
  }

  /** Spans a second of one phase; what makes it different has begun before. */
  private double rate(WebServer server, int mode) throws Exception {
    try (ScheduledExecutorService scraper = Executors.newSingleThreadScheduledExecutor();
        HttpClient client = HttpClient.newHttpClient()) {
      if (mode == NEVER) {
        skippedNanos.addAndGet(FORGOTTEN.toNanos());
      } else {
        // The first page of an encoding is made while it is waited for, which a 503 may end.
        long firstNanos = System.nanoTime();
        while (!scrape(client, server.port())) {
          if (System.nanoTime() - firstNanos > PATIENCE.toNanos()) {
            throw new IllegalStateException("no page came within " + PATIENCE);
          }
          Thread.onSpinWait();
        }
        scraper.scheduleAtFixedRate(
            () -> {
              // One that the end of the phase interrupts has not failed.
              if (!scrape(client, server.port()) && !scraper.isShutdown()) {
                failedScrapes.increment();
              }
            },
            mode,
            mode,
            TimeUnit.SECONDS);
      }
      everySeconds = mode;
      long startNanos = System.nanoTime();
      long startCpuNanos = cpuNanos();
      long before = spans.sum();
      Thread.sleep(phase);
      long recorded = spans.sum() - before;
      double rate = recorded * 1e9 / (System.nanoTime() - startNanos);
      cpuPerSpan
          .computeIfAbsent(mode, m -> new ArrayList<>())
          .add((double) (cpuNanos() - startCpuNanos) / recorded);
      scraper.shutdownNow();
      return rate;
    }
  }

  /** Whether a page came. */
  private static boolean scrape(HttpClient client, int port) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
            .header("Accept", "application/openmetrics-text;version=1.0.0")
            .header("Accept-Encoding", "gzip")
            .timeout(PATIENCE)
            .build();
    try {
      HttpResponse<InputStream> response =
          client.send(request, HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream body = response.body()) {
        body.transferTo(OutputStream.nullOutputStream());
      }
      return response.statusCode() == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Waits for the last windows to be sealed: their books must have all spans given. */
  private void holdRecorded() throws InterruptedException {
    long startNanos = System.nanoTime();
    while (recorded.sum() != spans.sum()) {
      if (System.nanoTime() - startNanos > PATIENCE.toNanos()) {
        throw new IllegalStateException(
            "of " + spans.sum() + " spans " + recorded.sum() + " were recorded");
      }
      Thread.sleep(10);
    }
  }

  private void startWorkers(SpanPages pages) {
    var aggregation =
        new Aggregation(
            series,
            histogram,
            DocumentsConfig.defaults(),
            new WindowConfig(window, Duration.ofMinutes(15)));
    for (int worker = 0; worker < workers; worker++) {
      int number = worker;
      threads.add(Thread.ofPlatform().start(() -> record(number, aggregation, pages)));
    }
  }

  private void record(int worker, Aggregation aggregation, SpanPages pages) {
    List<byte[]> messages =
        new SpanStream(1 + worker, 30, 50).batches(BATCHES, MIN_SPANS, MAX_SPANS);
    List<RenamedBatch> batches = messages.stream().map(RenamedBatch::new).toList();
    int[] sizes = messages.stream().mapToInt(ScrapedIngest::spanCount).toArray();
    BatchDecoder decoder = aggregation.newDecoder();
    List<QueueAggregator> queues = new ArrayList<>();
    for (int i = 0; i < QUEUES_OF_A_WORKER; i++) {
      QueueAggregator queue =
          aggregation.newAggregator(
              new QueueId("broker-" + worker, i), decoder, new PipelineMetrics());
      queue.beginAt(0);
      queues.add(queue);
    }
    long dueNanos = System.nanoTime();
    for (long sequence = 0; !ending; sequence++) {
      int batch = (int) (sequence % BATCHES);
      queues
          .get(batch % QUEUES_OF_A_WORKER)
          .accept(batches.get(batch).named(sequence), System.currentTimeMillis());
      spans.add(sizes[batch]);
      if (System.nanoTime() - dueNanos >= 0) {
        for (QueueAggregator queue : queues) {
          swap(queue, sequence + 1, pages);
        }
        dueNanos += window.toNanos();
      }
    }
    for (QueueAggregator queue : queues) {
      FilledWindow last = queue.swap(Long.MAX_VALUE / 2, System.currentTimeMillis());
      while (last == null) {
        // The window before it is still being sealed.
        LockSupport.parkNanos(1_000_000);
        last = queue.swap(Long.MAX_VALUE / 2, System.currentTimeMillis());
      }
      count(last.seal());
    }
  }

  private void swap(QueueAggregator queue, long to, SpanPages pages) {
    long startNanos = System.nanoTime();
    FilledWindow filled = queue.swap(to, System.currentTimeMillis());
    long pauseNanos = System.nanoTime() - startNanos;
    if (filled == null) {
      deferred.increment();
      return;
    }
    pauses.add(new Pause(everySeconds, pauseNanos));
    Thread.ofVirtual()
        .start(() -> {
          SealedWindow window = filled.seal();
          count(window);
          pages.window(window);
          filled.giveBack();
        });
  }

  private void count(SealedWindow window) {
    recorded.add(window.books().stream().mapToLong(Books::recorded).sum());
  }

  private static int spanCount(byte[] message) {
    var reader = new SpanBatchReader();
    reader.wrap(message, 0, message.length);
    return reader.spanCount();
  }

  /** Behind the port: pages, and nothing else. */
  private static AssembledServer pagesAlone(SpanPages pages) {
    var telemetry = new ServerTelemetry("perf", Duration.ofMinutes(15));
    return new AssembledServer(
        telemetry, new Components(telemetry, List.of(new PagesFeature(pages, telemetry))));
  }
}
