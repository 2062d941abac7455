package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.bench.load.SeriesLoad;
import org.traceetl.perf.bench.process.LiveHeap;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.testkit.Programs;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures what it costs to push series, against Prometheus that scrapes a server with the same
 * series and sends them by its remote write. Both send in the same time to a receiver in this
 * process, which only counts. The cost is the CPU of a program that sends, less that of the same
 * program with the same work that does not. That includes collections of garbage, which the CPU of
 * the sending threads does not. It does not include compilation, nor what the broker takes to read
 * its journal.
 */
@Command(
    name = "push",
    description = {
      "Measures pushing by Remote Write and Prometheus's own remote write, with the same series in"
          + " the same time: CPU of a million samples, and bytes of a sample. All series change in"
          + " each pane. The cost is the CPU of a program that sends, less that of a program with the"
          + " same work that does not.",
      "",
      "Fails unless the receiver has each span once from both, and from trace-etl in the pane in"
          + " which the agent accepted it.",
      ""
    })
final class Push extends Measurement {
  private static final Duration CATCH_UP_LIMIT = Duration.ofMinutes(10);
  private static final Duration LOOK = Duration.ofMillis(100);

  /** A sender that is not behind has sent the panes that ended this many panes ago. */
  private static final int PANES_BEHIND = 3;

  private static final int SAMPLES_PER_SERIES = 20;
  private static final int QUICK_SERIES = 600;

  @Mixin private Installed installed;
  @Mixin private RunFolder folder;

  @Option(
      names = "--prometheus",
      paramLabel = "FILE",
      description = "Prometheus' program (default: that on the PATH).")
  private Path prometheus;

  @Option(
      names = "--versions",
      paramLabel = "1.0|2.0",
      split = ",",
      description =
          "Versions of Remote Write, one after the other; Prometheus speaks 2.0 from 3.0 on"
              + " (default: ${DEFAULT-VALUE}).")
  private List<String> versions = List.of("1.0");

  @Option(
      names = "--series",
      description =
          "Series of spans, of "
              + SAMPLES_PER_SERIES
              + " samples each (default: ${DEFAULT-VALUE}).")
  private int series = 5_000;

  @Option(
      names = "--pane",
      paramLabel = "SECONDS",
      description = "Length of a pane, and interval of scrapes (default: ${DEFAULT-VALUE}).")
  private int paneSeconds = 5;

  @Option(
      names = "--warm-up",
      paramLabel = "PANES",
      description = "Panes before the first round (default: ${DEFAULT-VALUE}).")
  private int warmUpPanes = 60;

  @Option(names = "--rounds", description = "Rounds (default: ${DEFAULT-VALUE}).")
  private int rounds = 5;

  @Option(names = "--panes", description = "Panes of a round (default: ${DEFAULT-VALUE}).")
  private int panes = 12;

  @Option(
      names = "--away",
      paramLabel = "MINUTES",
      description =
          "Then lets the receiver answer 503 to both for this time, and measures memory and how fast"
              + " they catch up (default: ${DEFAULT-VALUE}).")
  private int awayMinutes;

  @Option(
      names = "--quick",
      description = "Runs a smoke test: one short round with at most " + QUICK_SERIES + " series.")
  private boolean quick;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Map<String, Object> summary = new LinkedHashMap<>();
  private String version;
  private Duration pane;

  @Override
  protected void measure() throws Exception {
    if (quick) {
      series = Math.min(series, QUICK_SERIES);
      warmUpPanes = 3;
      rounds = 1;
      panes = 3;
    }
    for (String one : versions) {
      if (!List.of("1.0", "2.0").contains(one)) {
        throw new IllegalArgumentException("--versions=" + one + " must be 1.0 or 2.0");
      }
    }
    pane = Duration.ofSeconds(paneSeconds);
    results.columns(
        "phase version contender round seconds series samples requests bytes_per_sample"
            + " cpu_seconds plain_cpu_seconds cpu_seconds_per_million"
            + " thread_cpu_seconds_per_million compiler_cpu_seconds_per_million samples_per_second memory_mb live_heap_mb");
    summary.put("series", new SeriesLoad(series).series());
    try {
      for (String one : versions) {
        version = one;
        folder.run("push", data -> run(data.resolve("version-" + one)));
      }
    } finally {
      http.shutdownNow();
    }
    results.summary("push", summary);
  }

  private void run(Path data) throws Exception {
    String executable = prometheus == null ? Programs.require("prometheus") : absolute(prometheus);
    SeriesLoad spans = new SeriesLoad(series);
    try (WriteReceiver receiver = new WriteReceiver();
        PushInstallation all =
            new PushInstallation(data, installed, executable, version, pane, receiver)) {
      all.start(http);
      List<Pusher> pushers = List.of(all.ours(), all.theirs());
      try (PaneLoad load = new PaneLoad(spans, all.sender(), pane)) {
        load.start();
        load.sleep(warmUpPanes);
        measureRounds(load, pushers);
        if (awayMinutes > 0) {
          away(receiver, load, pushers);
        }
        load.stop();
        hold(load.sent(), pushers, spans.series());
      }
    }
  }

  private static String absolute(Path file) {
    return file.toAbsolutePath().toString();
  }

  private record Pair(Pusher.Snapshot mine, Pusher.Snapshot theirs) {
    double ratio() {
      return mine.cpuPerMillion() / theirs.cpuPerMillion();
    }
  }

  private void measureRounds(PaneLoad load, List<Pusher> pushers) throws Exception {
    List<Pair> pairs = new ArrayList<>();
    for (int number = 1; number <= rounds; number++) {
      List<Pusher.Snapshot> before = pushers.stream().map(Pusher::now).toList();
      final long startNanos = System.nanoTime();
      load.sleep(panes);
      double seconds = (System.nanoTime() - startNanos) / 1e9;
      List<Pusher.Snapshot> costs = new ArrayList<>();
      for (int i = 0; i < pushers.size(); i++) {
        Pusher.Snapshot cost = pushers.get(i).now().since(before.get(i));
        if (cost.totals().samples() == 0) {
          throw new IOException(pushers.get(i).name() + " has sent nothing in round " + number);
        }
        row("steady", number, seconds, pushers.get(i), cost);
        costs.add(cost);
      }
      pairs.add(new Pair(costs.getFirst(), costs.getLast()));
    }
    Pair median = Results.median(pairs, Pair::ratio);
    put("cpu_ratio_median", median.ratio());
    put("cpu_ratio_least", pairs.getFirst().ratio());
    put("cpu_ratio_most", pairs.getLast().ratio());
    put("our_cpu_seconds_per_million", median.mine.cpuPerMillion());
    put("our_thread_cpu_seconds_per_million", median.mine.threadCpuPerMillion());
    put("our_compiler_cpu_seconds_per_million", median.mine.compilerCpuPerMillion());
    put("prometheus_cpu_seconds_per_million", median.theirs.cpuPerMillion());
    put("our_bytes_per_sample", median.mine.bytesPerSample());
    put("prometheus_bytes_per_sample", median.theirs.bytesPerSample());
  }

  private void row(String phase, int number, double seconds, Pusher pusher, Pusher.Snapshot cost) {
    Map<String, Object> values = new HashMap<>();
    values.put("phase", phase);
    values.put("version", version);
    values.put("contender", pusher.name());
    values.put("round", number);
    values.put("seconds", seconds);
    values.put("series", pusher.written().series());
    values.put("samples", cost.totals().samples());
    values.put("requests", cost.totals().requests());
    if (cost.totals().samples() > 0) {
      values.put("bytes_per_sample", cost.bytesPerSample());
      values.put("cpu_seconds_per_million", cost.cpuPerMillion());
      if (!pusher.threads().isEmpty()) {
        values.put("thread_cpu_seconds_per_million", cost.threadCpuPerMillion());
        values.put("compiler_cpu_seconds_per_million", cost.compilerCpuPerMillion());
      }
    }
    values.put("cpu_seconds", cost.pushingNanos() / 1e9);
    values.put("plain_cpu_seconds", cost.plainNanos() / 1e9);
    values.put("samples_per_second", cost.totals().samples() / seconds);
    values.put("memory_mb", pusher.usage().anonymousBytes() / 1e6);
    results.row(values);
  }

  /** Lets the receiver be away, and measures memory meanwhile and the rate afterwards. */
  private void away(WriteReceiver receiver, PaneLoad load, List<Pusher> pushers) throws Exception {
    memory("before-away", 0, pushers);
    receiver.away(true);
    long endNanos = System.nanoTime() + TimeUnit.MINUTES.toNanos(awayMinutes);
    long lookNanos = TimeUnit.MINUTES.toNanos(awayMinutes) / 4;
    for (int look = 1; look <= 4; look++) {
      while (endNanos - System.nanoTime() > (4 - look) * lookNanos) {
        load.sleep(1);
      }
      memory("away", look, pushers);
    }
    List<Pusher.Snapshot> before = pushers.stream().map(Pusher::now).toList();
    final long startNanos = System.nanoTime();
    receiver.away(false);
    catchUp(load, pushers, before, startNanos);
    load.sleep(PANES_BEHIND);
    memory("after-away", 0, pushers);
  }

  private void catchUp(
      PaneLoad load, List<Pusher> pushers, List<Pusher.Snapshot> before, long startNanos)
      throws IOException, InterruptedException {
    Map<Pusher, Long> firstNanos = new HashMap<>();
    List<Pusher> behind = new ArrayList<>(pushers);
    while (!behind.isEmpty()) {
      long nowNanos = System.nanoTime();
      if (nowNanos - startNanos > CATCH_UP_LIMIT.toNanos()) {
        throw new IOException(
            behind.stream().map(Pusher::name).toList()
                + " did not catch up within "
                + CATCH_UP_LIMIT);
      }
      long dueMillis = System.currentTimeMillis() - PANES_BEHIND * pane.toMillis();
      for (Pusher pusher : pushers) {
        Pusher.Snapshot cost = pusher.now().since(before.get(pushers.indexOf(pusher)));
        if (cost.totals().samples() > 0) {
          firstNanos.putIfAbsent(pusher, nowNanos);
        }
        // Its newest sample may be of a queue that is ahead of the others.
        if (firstNanos.containsKey(pusher)
            && pusher.written().calls() >= load.sent().spansUntil(dueMillis)
            && behind.remove(pusher)) {
          // Without the pause that a sender makes after a failed request.
          double seconds = (nowNanos - firstNanos.get(pusher) + LOOK.toNanos()) / 1e9;
          row("catch-up", 0, seconds, pusher, cost);
          put(prefix(pusher) + "_catch_up_seconds", seconds);
          put(prefix(pusher) + "_catch_up_samples_per_second", cost.totals().samples() / seconds);
        }
      }
      Thread.sleep(LOOK);
    }
    load.sleep(1);
  }

  private static String prefix(Pusher pusher) {
    return pusher.name().equals(PushInstallation.OURS) ? "our" : "prometheus";
  }

  private void memory(String phase, int look, List<Pusher> pushers)
      throws IOException, InterruptedException {
    for (Pusher pusher : pushers) {
      Map<String, Object> values = new HashMap<>();
      values.put("phase", phase);
      values.put("version", version);
      values.put("contender", pusher.name());
      values.put("round", look);
      double memory = pusher.usage().anonymousBytes() / 1e6;
      values.put("memory_mb", memory);
      String name = prefix(pusher) + "_" + phase.replace('-', '_');
      put(name + "_mb", memory);
      if (pusher.name().equals(PushInstallation.OURS)) {
        double heap = LiveHeap.bytes(pusher.pushing().pid()) / 1e6;
        values.put("live_heap_mb", heap);
        put(name + "_live_heap_mb", heap);
      }
      results.row(values);
    }
  }

  /** Waits until the receiver has each span once from both. */
  private void hold(SentPanes sent, List<Pusher> pushers, int expectedSeries) throws Exception {
    long startNanos = System.nanoTime();
    for (Pusher pusher : pushers) {
      while (pusher.written().calls() != sent.spans()) {
        if (System.nanoTime() - startNanos > CATCH_UP_LIMIT.toNanos()) {
          throw new IOException(
              "%d spans were accepted, and the receiver has %d from %s"
                  .formatted(sent.spans(), pusher.written().calls(), pusher.name()));
        }
        Thread.sleep(LOOK);
      }
      if (pusher.written().series() != expectedSeries) {
        throw new IOException(
            "%d series were sent, and the receiver has %d from %s"
                .formatted(expectedSeries, pusher.written().series(), pusher.name()));
      }
    }
    SortedMap<Long, Double> wrong = sent.wrong(pushers.getFirst().written().increases());
    put("spans", sent.spans());
    put("panes", sent.panes());
    put("wrong_panes", wrong.size());
    if (!wrong.isEmpty()) {
      throw new IOException(
          "%d of %d panes have wrong counts, by their ends: %s"
              .formatted(wrong.size(), sent.panes(), wrong));
    }
  }

  private void put(String name, Object value) {
    summary.put("v" + version.charAt(0) + "_" + name, value);
  }
}
