package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.perf.bench.Measurement;
import org.traceetl.perf.bench.overhead.Services.Service;
import org.traceetl.perf.bench.report.Bars;
import org.traceetl.perf.bench.report.Results;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures a small service with three spans a request, in its process and under a constant load.
 */
@Command(
    name = "shortener",
    description = {
      "Measures what tracing adds to a URL shortener with three spans a request, in Java, under the"
          + " OpenTelemetry Java agent, and in Python: its handler called in its process, and CPU per"
          + " request at a constant rate from k6, service and load on a core each.",
      ""
    })
public final class Shortener extends Measurement {
  private static final double MICROS = 1e3;
  private static final String UNTRACED = "-untraced";

  @Mixin private Setup setup;
  @Mixin private Services services;

  @Option(names = "--rounds", description = "Rounds that count (default: ${DEFAULT-VALUE}).")
  private int rounds = 5;

  @Option(
      names = "--warm-up-rounds",
      description = "Rounds before them (default: ${DEFAULT-VALUE}).")
  private int warmUpRounds = 2;

  @Option(
      names = "--calls",
      description =
          "Calls of the handler in its process in a round; a ring must have room for their spans"
              + " (default: ${DEFAULT-VALUE}).")
  private int calls = 5_000;

  @Option(
      names = "--seconds",
      description = "Load in a round, seconds (default: ${DEFAULT-VALUE}).")
  private int seconds = 10;

  @Option(
      names = "--services",
      split = ",",
      description = "Which of them (default: ${DEFAULT-VALUE}).")
  private List<String> names = Services.NAMES;

  private final Medians medians = new Medians();

  @Override
  protected void measure() throws Exception {
    setup.runWithReceiver("shortener", this::measure);
  }

  private void measure(Path folder, Receiver receiver) throws Exception {
    results.columns(
        "service round what requests spans wall_us cpu_us p50_ms p99_ms max_ms not_sent");
    List<Service> all = new ArrayList<>();
    try {
      for (String name : names) {
        all.add(
            services.start(
                name, receiver::environment, Services.LONG_QUEUE, setup.python(), folder));
      }
      for (int round = 1 - warmUpRounds; round <= rounds; round++) {
        List<Service> shuffled = setup.shuffled(all);
        for (Service service : shuffled) {
          if (service.calls()) {
            calls(service, round, receiver);
          }
        }
        for (Service service : shuffled) {
          load(service, round, receiver, folder);
        }
      }
    } finally {
      all.forEach(Service::close);
    }
    summarise();
  }

  private void calls(Service service, int round, Receiver receiver) throws IOException {
    Map<String, String> answer = service.worker().ask("calls " + calls);
    long spans = service.traced() ? Services.SPANS * Long.parseLong(answer.get("requests")) : 0;
    receiver.await(spans, service.name());
    double wall = Double.parseDouble(answer.get("wall")) / calls / MICROS;
    double cpu = Double.parseDouble(answer.get("cpu")) / calls / MICROS;
    results.row(
        service.name(), Results.round(round), "call", calls, spans, wall, cpu, "", "", "", "");
    if (round > 0) {
      medians.add("call wall", service.name(), wall);
      medians.add("call", service.name(), cpu);
    }
  }

  private void load(Service service, int round, Receiver receiver, Path folder) throws IOException {
    long cpuNanos = service.worker().cpuNanos();
    HttpLoad load = services.load(service, seconds, folder);
    long requests = load.requests();
    long spans = service.traced() ? Services.SPANS * requests : 0;
    receiver.await(spans, service.name());
    double cpu = (service.worker().cpuNanos() - cpuNanos) / MICROS / requests;
    results.row(
        service.name(),
        Results.round(round),
        "request",
        requests,
        spans,
        "",
        cpu,
        load.p50Millis(),
        load.p99Millis(),
        load.maxMillis(),
        load.notSent());
    if (round > 0) {
      medians.add("request", service.name(), cpu);
    }
  }

  private void summarise() throws IOException {
    Map<String, Object> summary = new LinkedHashMap<>();
    Bars callBars = new Bars("Added to a handler with 3 spans, called in its process", "CPU, µs");
    Bars requestBars = new Bars("Added to a request with 3 spans, at a constant rate", "CPU, µs");
    for (String name : names) {
      String base = name.startsWith("python") ? "python" + UNTRACED : "java" + UNTRACED;
      String key = name.replace('-', '_');
      if (name.equals(base)) {
        summary.put(key + "_call_cpu_us", medians.of("call", name));
        summary.put(key + "_request_cpu_us", medians.of("request", name));
        continue;
      }
      // For the second untraced service, this is the noise.
      double request = medians.difference("request", name, base);
      summary.put(key + "_adds_to_request_cpu_us", request);
      requestBars.bar(name, request);
      double call = medians.difference("call", name, base);
      if (!Double.isNaN(call)) {
        summary.put(key + "_adds_to_call_wall_us", medians.difference("call wall", name, base));
        summary.put(key + "_adds_to_call_cpu_us", call);
        callBars.bar(name, call);
      }
    }
    for (String language : List.of("java", "python")) {
      double otlp = medians.difference("call", language + "-otlp", language + UNTRACED);
      for (String ring : List.of("ring", "own-ring")) {
        summary.put(
            language + "_call_otlp_to_" + ring.replace('-', '_'),
            otlp / medians.difference("call", language + '-' + ring, language + UNTRACED));
      }
    }
    callBars.write(results.file("shortener-calls.svg"));
    requestBars.write(results.file("shortener-requests.svg"));
    results.summary("shortener", summary);
  }
}
