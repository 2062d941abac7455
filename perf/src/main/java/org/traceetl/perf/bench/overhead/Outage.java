package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.traceetl.perf.bench.Measurement;
import org.traceetl.perf.bench.overhead.Services.Service;
import org.traceetl.perf.bench.report.Bars;
import org.traceetl.perf.bench.report.Results;
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
public final class Outage extends Measurement {
  private static final double MICROS = 1e3;

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

  private final Medians medians = new Medians();

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

  @Override
  protected void measure() throws Exception {
    setup.runWithRings("overhead-outage", this::measure);
  }

  private void measure(Path folder, Path rings) throws Exception {
    results.columns("service round outage requests p50_ms p99_ms max_ms cpu_us spans spans_lost");
    List<Service> all = new ArrayList<>();
    try (Host host = new Host(folder, rings)) {
      host.start();
      for (String name : names) {
        all.add(services.start(name, host::environment, Map.of(), setup.python(), folder));
      }
      // The first round is the warm-up, without an outage.
      for (int round = 0; round <= rounds; round++) {
        for (Kind kind : round == 0 ? List.of(Kind.NONE) : kinds) {
          for (Service service : setup.shuffled(all)) {
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
    long requests = load.requests();
    long spans = service.traced() ? Services.SPANS * requests : 0;
    long countedAfter = host.awaitCalls(service.name(), countedBefore, countedBefore + spans);
    counted.put(service.name(), countedAfter);
    long arrived = countedAfter - countedBefore;
    if (arrived > spans) {
      throw new IOException(
          "%s sent %d spans, and the page counted %d".formatted(service.name(), spans, arrived));
    }
    double cpuMicros = cpuNanos / MICROS / requests;
    results.row(
        service.name(),
        Results.round(round),
        kind.label(),
        requests,
        load.p50Millis(),
        load.p99Millis(),
        load.maxMillis(),
        cpuMicros,
        spans,
        spans - arrived);
    if (round > 0) {
      medians.add(kind + "_p99_ms", service.name(), load.p99Millis());
      medians.add(kind + "_max_ms", service.name(), load.maxMillis());
      medians.add(kind + "_cpu_us", service.name(), cpuMicros);
      medians.add(kind + "_lost", service.name(), spans - arrived);
    }
  }

  private static void begin(Kind kind, Host host) {
    if (kind == Kind.AGENT_AWAY) {
      host.killAgent();
    } else if (kind == Kind.BROKER_AWAY) {
      host.killServerAndBroker();
    }
  }

  private static void end(Kind kind, Host host) throws IOException, InterruptedException {
    if (kind == Kind.AGENT_AWAY) {
      host.startAgent();
    } else if (kind == Kind.BROKER_AWAY) {
      host.startServerAndBroker();
    }
  }

  private void summarise() throws IOException {
    Map<String, Object> summary = new LinkedHashMap<>();
    for (Kind kind : kinds) {
      Bars bars = new Bars("CPU of a request, " + kind.label().replace('_', ' '), "µs");
      for (String name : names) {
        for (String figure : List.of("p99_ms", "max_ms", "cpu_us", "lost")) {
          summary.put(
              name.replace('-', '_') + "_" + kind.label() + "_" + figure,
              medians.of(kind + "_" + figure, name));
        }
        bars.bar(name, medians.of(kind + "_cpu_us", name));
      }
      bars.write(results.file("outage-" + kind.label().replace('_', '-') + ".svg"));
    }
    results.summary("outage", summary);
  }
}
