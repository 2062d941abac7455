package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.traceetl.perf.bench.load.ExportLoad;
import org.traceetl.perf.bench.load.GrpcSender;
import org.traceetl.perf.bench.load.Load;
import org.traceetl.perf.bench.load.OtlpSender;
import org.traceetl.perf.bench.load.RenumberedExport;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.testkit.Program;

/**
 * Sends spans to one contender, measures their cost, and compares its page with the spans sent.
 * Confined to one thread.
 */
final class Driver implements AutoCloseable {
  /** Requests under way at the same time, over all connections. */
  static final int UNANSWERED = 32;

  private static final int CONNECTIONS = 4;

  private static final Duration WARM_UP_STEP = Duration.ofSeconds(5);
  private static final double WARM_SHARE = 0.03;

  /** The time before a new page in which waiting spans are aggregated. */
  private static final long DRAIN_MILLIS = 2_000;

  /** The time after it in which the page is created. */
  private static final long PAGE_MILLIS = 1_000;

  /** The number of pages to wait for: a page may be late once. */
  private static final int PAGES = 3;

  /**
   * The cost of spans until all are aggregated.
   *
   * @param seconds from the first request until all spans were aggregated
   * @param cpuNanos of each program, by name; an application that creates the spans is one of them
   * @param compilerNanos the part of the threads that compile Java
   * @param senderNanos of this process
   */
  record Cost(
      ExportLoad.Sent sent,
      double seconds,
      Map<String, Long> cpuNanos,
      long compilerNanos,
      long senderNanos) {
    double spansPerSecond() {
      return sent.spans() / seconds;
    }

    /** CPU of all programs, ns per span. */
    double cpuPerSpan() {
      return (double) cpuNanos.values().stream().mapToLong(nanos -> nanos).sum() / sent.spans();
    }

    /** CPU of a program, ns per span. */
    double cpuPerSpan(String program) {
      return (double) cpuNanos.get(program) / sent.spans();
    }

    /** CPU of compilation, ns per span; a JVM that has run for long does not need it. */
    double compilerPerSpan() {
      return (double) compilerNanos / sent.spans();
    }

    double senderPerSpan() {
      return (double) senderNanos / sent.spans();
    }
  }

  /**
   * A cost that includes creating the page, and the page, which had every span exactly once.
   *
   * @param pageNanos CPU for serving the page
   */
  record Round(Cost cost, Scrape page, long pageNanos) {}

  private final Contender contender;
  private final Load load;
  private final HttpClient http;
  private final OtlpSender sender;
  private final Map<String, Usage> usages = new LinkedHashMap<>();
  private final Usage own = new Usage(ProcessHandle.current().pid());
  private long spans;

  /** Drives a contender that has started by requests of this process; the caller closes it. */
  Driver(Contender contender, ExportLoad requests, HttpClient http) {
    this.contender = contender;
    this.http = http;
    sender = new GrpcSender(contender.otlpPort(), CONNECTIONS);
    load = (nanos, spansPerSecond) -> requests.send(sender, nanos, spansPerSecond);
    contender.programs().forEach(this::measure);
  }

  /**
   * Drives a contender that has started, which the caller closes.
   *
   * @param load is closed with the driver
   */
  Driver(Contender contender, Load load, HttpClient http) {
    this.contender = contender;
    this.http = http;
    this.load = load;
    sender = new GrpcSender(contender.otlpPort(), CONNECTIONS);
    contender.programs().forEach(this::measure);
    usages.putAll(load.programs());
  }

  private void measure(Program program) {
    usages.put(program.name(), new Usage(program.pid()));
  }

  URI pageUri() {
    return contender.page();
  }

  OtlpSender sender() {
    return sender;
  }

  /** Sends for a duration, as fast as the load can, and waits until all spans are aggregated. */
  Cost load(Duration length) throws IOException, InterruptedException {
    return load(length, Double.POSITIVE_INFINITY);
  }

  /**
   * Sends each request once, and waits until all spans are aggregated.
   *
   * @param number of the sending, above 0
   */
  void loadOnce(List<RenumberedExport> requests, long number)
      throws IOException, InterruptedException {
    for (RenumberedExport request : requests) {
      String refusal = sender.await(request.numbered(number));
      if (refusal != null) {
        throw new IOException("a request was refused: " + refusal);
      }
      spans += request.spans();
    }
    contender.awaitTaken(spans);
  }

  /** Sends for a duration at a steady rate, and waits until all spans are aggregated. */
  Cost load(Duration length, double spansPerSecond) throws IOException, InterruptedException {
    Map<String, Long> before = cpuNanos();
    long compilerBefore = compilerNanos();
    long ownBefore = own.cpuNanos();
    long startNanos = System.nanoTime();
    ExportLoad.Sent sent = load.send(length.toNanos(), spansPerSecond);
    long ownNanos = own.cpuNanos() - ownBefore;
    if (sent.spans() == 0) {
      throw new IOException("no span was accepted; the last refusal: " + sent.refusal());
    }
    spans += sent.spans();
    contender.awaitTaken(spans);
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    // An idle compiler thread may have ended; its time is then missing.
    long compilerNanos = Math.max(0, compilerNanos() - compilerBefore);
    return new Cost(sent, seconds, since(before), compilerNanos, ownNanos);
  }

  /** Sends until compilation is a small share of the cost, at most for a duration. */
  Cost warmUp(Duration most) throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    Cost cost;
    do {
      cost = load(WARM_UP_STEP);
    } while (cost.compilerPerSpan() > WARM_SHARE * cost.cpuPerSpan()
        && System.nanoTime() - startNanos < most.toNanos());
    return cost;
  }

  private long compilerNanos() {
    return usages.values().stream()
        .map(usage -> usage.cpuNanosByPart(name -> name.contains("CompilerThre") ? "it" : "rest"))
        .mapToLong(parts -> parts.getOrDefault("it", 0L))
        .sum();
  }

  /**
   * Sends until shortly before the next page, and compares that page with all spans sent so far.
   * The cost includes creating the page, not serving it.
   *
   * @param least the minimum duration; the actual one is at most a window longer
   * @param window the time between pages
   * @throws IOException if the page has more or fewer spans
   */
  Round round(Duration least, Duration window) throws IOException, InterruptedException {
    Map<String, Long> before = cpuNanos();
    long millis = contender.millisToNextPage() - DRAIN_MILLIS;
    while (millis < least.toMillis()) {
      millis += window.toMillis();
    }
    Cost cost = load(Duration.ofMillis(millis));
    Scrape page = null;
    Map<String, Long> made = null;
    long pageNanos = 0;
    for (int i = 0; i < PAGES && (page == null || page.calls() < spans); i++) {
      Thread.sleep(contender.millisToNextPage() + PAGE_MILLIS);
      made = since(before);
      Map<String, Long> unserved = cpuNanos();
      page = Scrape.of(http, contender.page());
      pageNanos = sum(since(unserved));
    }
    hold(page);
    return new Round(
        new Cost(cost.sent(), cost.seconds(), made, cost.compilerNanos(), cost.senderNanos()),
        page,
        pageNanos);
  }

  /** Waits for a page that has all spans sent so far. */
  Scrape page() throws IOException, InterruptedException {
    Scrape page = Scrape.of(http, contender.page());
    for (int i = 0; i < PAGES && page.calls() < spans; i++) {
      Thread.sleep(contender.millisToNextPage() + PAGE_MILLIS);
      page = Scrape.of(http, contender.page());
    }
    hold(page);
    return page;
  }

  private void hold(Scrape page) throws IOException {
    if (page.calls() != spans) {
      throw new IOException(
          "%d spans were accepted, and %s shows %d"
              .formatted(spans, contender.page(), page.calls()));
    }
  }

  /** CPU so far, by program. */
  Map<String, Long> cpuNanos() {
    Map<String, Long> cpu = new LinkedHashMap<>();
    usages.forEach((program, usage) -> cpu.put(program, usage.cpuNanos()));
    return cpu;
  }

  /** CPU since {@code before}, by program. */
  Map<String, Long> since(Map<String, Long> before) {
    Map<String, Long> since = cpuNanos();
    before.forEach((program, nanos) -> since.merge(program, -nanos, Long::sum));
    return since;
  }

  static long sum(Map<String, Long> cpuNanos) {
    return cpuNanos.values().stream().mapToLong(nanos -> nanos).sum();
  }

  /** CPU of a program's living threads so far, by their names without numbers. */
  Map<String, Long> threads(String program) {
    UnaryOperator<String> kind = name -> name.replaceAll("[0-9]+", "#");
    return usages.get(program).cpuNanosByPart(kind);
  }

  /** Resident memory by program without files that the system caches for it, megabytes. */
  Map<String, Double> memoryMegabytes() {
    Map<String, Double> memory = new LinkedHashMap<>();
    usages.forEach((program, usage) -> memory.put(program, usage.anonymousBytes() / 1e6));
    return memory;
  }

  @Override
  public void close() {
    sender.close();
    load.close();
  }
}
