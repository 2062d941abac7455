package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.traceetl.perf.bench.Measurement;
import org.traceetl.perf.bench.report.Bars;
import org.traceetl.perf.bench.report.Results;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures a Python script without and with many small spans. */
@Command(
    name = "sqlite",
    description = {
      "Measures a Python script of 1,000 rounds of 23 spans around statements of an in-memory"
          + " sqlite, by opentelemetry-instrumentation-sqlite3: untraced, SDK and OTLP, SDK and"
          + " ring, own provider and ring, each sampled, and events in place of spans.",
      ""
    })
public final class Sqlite extends Measurement {
  private static final double MILLIS = 1e6;
  private static final String BASE = "untraced";
  private static final String CONTROL = "untraced-again";
  private static final List<String> VARIANTS =
      Stream.of(
              Stream.of(BASE, CONTROL),
              sampled("sdk-otlp"),
              sampled("sdk-ring"),
              sampled("own-ring"),
              Stream.of("events"))
          .flatMap(names -> names)
          .toList();

  @Mixin private Setup setup;

  @Option(names = "--rounds", description = "Rounds that count (default: ${DEFAULT-VALUE}).")
  private int rounds = 5;

  @Option(
      names = "--script-rounds",
      description = "Rounds of 23 spans in each of them (default: ${DEFAULT-VALUE}).")
  private int scriptRounds = 1_000;

  @Option(
      names = "--variants",
      split = ",",
      description = "Which of them (default: ${DEFAULT-VALUE}).")
  private List<String> variants = VARIANTS;

  private final Medians medians = new Medians();

  @Override
  protected void measure() throws Exception {
    setup.runWithReceiver("sqlite", this::measure);
  }

  private static Stream<String> sampled(String kind) {
    return Stream.of("1", "0.5", "0.1", "0.05", "0").map(each -> kind + "-" + each);
  }

  private void measure(Path folder, Receiver receiver) throws Exception {
    results.columns("variant round spans wall_ms cpu_ms");
    List<MeasuredProgram> scripts = new ArrayList<>();
    try {
      for (String name : variants) {
        scripts.add(script(name, receiver, folder));
      }
      for (MeasuredProgram script : scripts) {
        script.answer();
      }
      // The first round is the warm-up.
      for (int round = 0; round <= rounds; round++) {
        for (MeasuredProgram script : setup.shuffled(scripts)) {
          round(script, round, receiver);
        }
      }
    } finally {
      scripts.forEach(MeasuredProgram::close);
    }
    summarise();
  }

  /**
   * @param name one of {@link #VARIANTS}
   */
  private MeasuredProgram script(String name, Receiver receiver, Path folder) throws IOException {
    boolean sampled = Character.isDigit(name.charAt(name.length() - 1));
    int end = sampled ? name.lastIndexOf('-') : name.length();
    String kind = name.substring(0, end).replace("-again", "");
    return new MeasuredProgram(
        name,
        List.of(
            setup.python().toString(),
            "perf/overhead/sqlite/rounds.py",
            kind,
            sampled ? name.substring(end + 1) : "1"),
        receiver.environment(kind.endsWith("otlp") ? Way.OTLP_HTTP : Way.RING),
        -1,
        folder.resolve(name + ".log"));
  }

  private void round(MeasuredProgram script, int round, Receiver receiver) throws IOException {
    Map<String, String> answer = script.ask("rounds " + scriptRounds);
    long spans = Long.parseLong(answer.get("spans"));
    receiver.await(spans, script.name());
    double wallMillis = Double.parseDouble(answer.get("wall")) / MILLIS;
    double cpuMillis = Double.parseDouble(answer.get("cpu")) / MILLIS;
    results.row(script.name(), Results.round(round), spans, wallMillis, cpuMillis);
    if (round > 0) {
      medians.add("wall", script.name(), wallMillis);
      medians.add("cpu", script.name(), cpuMillis);
    }
  }

  private void summarise() throws IOException {
    Map<String, Object> summary = new LinkedHashMap<>();
    Bars bars = new Bars("1,000 rounds of 23 spans around sqlite", "CPU, ms");
    for (String name : variants) {
      summary.put(key(name) + "_cpu_ms", medians.of("cpu", name));
      if (!name.equals(CONTROL)) {
        bars.bar(name, medians.of("cpu", name));
      }
    }
    Stream.of(BASE, "sdk-otlp-1", "sdk-ring-1", "own-ring-1", "sdk-otlp-0", "events")
        .forEach(name -> summary.put(key(name) + "_wall_ms", medians.of("wall", name)));
    // The difference between two runs of one script; smaller differences are noise.
    summary.put("noise_cpu_ms", medians.difference("cpu", CONTROL, BASE));
    double tracing = medians.difference("cpu", "own-ring-1", BASE);
    summary.put("added_otlp_to_own_ring", medians.difference("cpu", "sdk-otlp-1", BASE) / tracing);
    summary.put(
        "added_sdk_at_0_to_own_ring", medians.difference("cpu", "sdk-otlp-0", BASE) / tracing);
    summary.put(
        "otlp_to_own_ring", medians.of("cpu", "sdk-otlp-1") / medians.of("cpu", "own-ring-1"));
    summary.put(
        "own_ring_to_sdk_at_0", medians.of("cpu", "own-ring-1") / medians.of("cpu", "sdk-otlp-0"));
    summary.put("events_to_untraced", medians.of("cpu", "events") / medians.of("cpu", BASE));
    bars.write(results.file("sqlite.svg"));
    results.summary("sqlite", summary);
  }

  private static String key(String name) {
    return name.replace('-', '_').replace('.', '_');
  }
}
