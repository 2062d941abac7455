package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.traceetl.perf.bench.overhead.Services.Service;
import org.traceetl.perf.bench.report.Bars;
import org.traceetl.perf.bench.report.Results;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures a service under a constant load during an outage of the agent or of the broker. */
@Command(
    name = "outage",
    description = {
      "Measures the latency of the URL shortener, its CPU per request and the spans that it loses"
          + " while all works, while the agent is killed and started again, while there is none, and"
          + " while broker and server are away.",
      ""
    })
public final class Outage implements Callable<Integer> {
  private static final double MICROS = 1e3;

  @Mixin private Results results;
  @Mixin private Setup setup;
  @Mixin private Services services;

  @Option(names = "--rounds", description = "Rounds (default: ${DEFAULT-VALUE}).")
  private int rounds = 2;

  @Option(
      names = "--seconds",
      description = "Load on a service in each, seconds (default: ${DEFAULT-VALUE}).")
  private int seconds = 15;

  @Option(
      names = "--services",
      split = ",",
      description = "Which of them (default: ${DEFAULT-VALUE}).")
  private List<String> names =
      List.of("java-untraced", "java-otlp", "java-ring", "python-otlp", "python-ring");

  @Option(
      names = "--outages",
      split = ",",
      description = "${COMPLETION-CANDIDATES} (default: all).")
  private List<Kind> kinds = List.of(Kind.values());

  private final Map<Kind, Median> p99 = new LinkedHashMap<>();
  private final Map<Kind, Median> max = new LinkedHashMap<>();
  private final Map<Kind, Median> cpu = new LinkedHashMap<>();
  private final Map<Kind, Median> lost = new LinkedHashMap<>();

  /** Spans of each service that the page has counted. */
  private final Map<String, Long> counted = new HashMap<>();

  /** The outage while requests are served. */
  enum Kind {
    NONE,
    AGENT_KILLED,
    AGENT_AWAY,
    BROKER_AWAY;

    private String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Outage()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    setup.runWithRings("outage", this::measure);
    return 0;
  }

  private void measure(Path folder, Path rings) throws Exception {
    results.columns(
        "service",
        "round",
        "outage",
        "requests",
        "p50_ms",
        "p99_ms",
        "max_ms",
        "cpu_us",
        "spans",
        "spans_lost");
    for (Kind kind : kinds) {
      p99.put(kind, new Median());
      max.put(kind, new Median());
      cpu.put(kind, new Median());
      lost.put(kind, new Median());
    }
    List<Service> all = new ArrayList<>();
    try (Host host = new Host(folder, rings)) {
      host.start();
      for (String name : names) {
        all.add(services.start(name, host::environment, Map.of(), setup.python(), folder));
      }
      Random random = new Random(setup.seed());
      // The first round is the warm-up, without an outage.
      for (int round = 0; round <= rounds; round++) {
        for (Kind kind : round == 0 ? List.of(Kind.NONE) : kinds) {
          List<Service> shuffled = new ArrayList<>(all);
          Collections.shuffle(shuffled, random);
          for (Service service : shuffled) {
            serve(service, round, kind, host, folder);
          }
        }
      }
    } finally {
      all.forEach(Service::close);
    }
    summarise();
  }

  private void serve(Service service, int round, Kind kind, Host host, Path folder)
      throws Exception {
    // The page cannot be used: a server that was killed does not show these spans at first.
    long countedBefore = counted.getOrDefault(service.name(), 0L);
    long servedBefore = service.served();
    begin(kind, host);
    long cpuNanos = service.worker().cpuNanos();
    HttpLoad load;
    try (ExecutorService senders = Executors.newSingleThreadExecutor()) {
      Future<HttpLoad> sending = senders.submit(() -> services.load(service, seconds, folder));
      if (kind == Kind.AGENT_KILLED) {
        Thread.sleep(seconds * 1_000L / 3);
        host.killAgent();
        Thread.sleep(seconds * 1_000L / 3);
        host.startAgent();
      }
      load = sending.get();
    }
    cpuNanos = service.worker().cpuNanos() - cpuNanos;
    end(kind, host);
    long requests = service.served() - servedBefore;
    if (load.failed() > 0 || load.requests() != requests) {
      throw new IOException(
          "%s served %d requests of %d that were sent, of which %d failed"
              .formatted(service.name(), requests, load.requests(), load.failed()));
    }
    long spans = service.traced() ? Services.SPANS * requests : 0;
    long countedAfter = host.awaitCalls(service.name(), countedBefore, countedBefore + spans);
    counted.put(service.name(), countedAfter);
    long arrived = countedAfter - countedBefore;
    if (arrived > spans) {
      throw new IOException(
          "of %s %d spans were counted, and there were %d"
              .formatted(service.name(), arrived, spans));
    }
    double cpuMicros = cpuNanos / MICROS / requests;
    results.row(
        service.name(),
        round > 0 ? Integer.toString(round) : "warm-up",
        kind.label(),
        requests,
        load.p50Millis(),
        load.p99Millis(),
        load.maxMillis(),
        cpuMicros,
        spans,
        spans - arrived);
    if (round > 0) {
      p99.get(kind).add(service.name(), load.p99Millis());
      max.get(kind).add(service.name(), load.maxMillis());
      cpu.get(kind).add(service.name(), cpuMicros);
      lost.get(kind).add(service.name(), spans - arrived);
    }
  }

  private static void begin(Kind kind, Host host) {
    if (kind == Kind.AGENT_AWAY) {
      host.killAgent();
    } else if (kind == Kind.BROKER_AWAY) {
      host.killWhatIsBehind();
    }
  }

  private static void end(Kind kind, Host host) throws IOException, InterruptedException {
    if (kind == Kind.AGENT_AWAY) {
      host.startAgent();
    } else if (kind == Kind.BROKER_AWAY) {
      host.startWhatIsBehind();
    }
  }

  private void summarise() throws IOException {
    Map<String, Object> summary = new LinkedHashMap<>();
    for (Kind kind : kinds) {
      Bars bars = new Bars("CPU of a request, " + kind.label().replace('_', ' '), "µs");
      for (String name : names) {
        String key = name.replace('-', '_') + "_" + kind.label();
        summary.put(key + "_p99_ms", p99.get(kind).of(name));
        summary.put(key + "_max_ms", max.get(kind).of(name));
        summary.put(key + "_cpu_us", cpu.get(kind).of(name));
        summary.put(key + "_lost", lost.get(kind).of(name));
        bars.bar(name, cpu.get(kind).of(name));
      }
      bars.write(results.file("outage-" + kind.label().replace('_', '-') + ".svg"));
    }
    results.summary("outage", summary);
  }
}
