package org.traceetl.perf.bench.overhead;

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
import org.traceetl.perf.bench.report.Bars;
import org.traceetl.perf.bench.report.Results;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures a batch of 512 ended spans from the exporter's call until it is decoded by the receiver.
 */
@Command(
    name = "batch",
    description = {
      "Measures 512 spans of 8 attributes from an exporter's call until they are decoded by the"
          + " agent's sources: OTLP/HTTP, OTLP/gRPC and the ring, Java and Python.",
      ""
    })
public final class BatchOverhead implements Callable<Integer> {
  private static final double MICROS = 1e3;
  private static final String JAVA_APP = "org.traceetl.perf.bench.overhead.app.BatchApp";

  @Mixin private Results results;
  @Mixin private Setup setup;

  @Option(names = "--rounds", description = "Rounds that count (default: ${DEFAULT-VALUE}).")
  private int rounds = 10;

  @Option(
      names = "--warm-up-rounds",
      description = "Rounds before them (default: ${DEFAULT-VALUE}).")
  private int warmUpRounds = 10;

  @Option(
      names = "--java-batches",
      description =
          "Batches of a Java program in a round; a ring must have room for all of them"
              + " (default: ${DEFAULT-VALUE}).")
  private int javaBatches = 30;

  @Option(
      names = "--python-batches",
      description = "The same of a Python program (default: ${DEFAULT-VALUE}).")
  private int pythonBatches = 20;

  /** A way of delivery, from one language. */
  private record Variant(String name, MeasuredProgram worker, int batches) {}

  public static void main(String... arguments) {
    System.exit(new CommandLine(new BatchOverhead()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    setup.run("batch", this::measure);
    return 0;
  }

  private void measure(Path folder, Receiver receiver) throws Exception {
    results.columns(
        "variant", "round", "batches", "wall_us", "exporter_cpu_us", "receiver_cpu_us", "cpu_us");
    List<Variant> variants = new ArrayList<>();
    try {
      for (Way way : List.of(Way.OTLP_HTTP, Way.OTLP_GRPC, Way.RING)) {
        variants.add(new Variant("java-" + label(way), java(way, receiver, folder), javaBatches));
        variants.add(
            new Variant("python-" + label(way), python(way, receiver, folder), pythonBatches));
      }
      for (Variant variant : variants) {
        variant.worker.answer();
      }
      Map<String, Median> medians = new HashMap<>();
      Random random = new Random(setup.seed());
      for (int round = 1 - warmUpRounds; round <= rounds; round++) {
        List<Variant> shuffled = new ArrayList<>(variants);
        Collections.shuffle(shuffled, random);
        for (Variant variant : shuffled) {
          round(variant, round, receiver, medians);
        }
      }
      summarise(variants, medians);
    } finally {
      variants.forEach(variant -> variant.worker.close());
    }
  }

  private static String label(Way way) {
    return way.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static MeasuredProgram java(Way way, Receiver receiver, Path folder) throws Exception {
    List<String> command = Jvm.command(JAVA_APP, "-Xmx1g", "-XX:+UseSerialGC");
    command.add(way == Way.RING ? "ring" : "otlp");
    String name = "java-" + label(way);
    return new MeasuredProgram(
        name, command, receiver.environment(way), -1, folder.resolve(name + ".log"));
  }

  private MeasuredProgram python(Way way, Receiver receiver, Path folder) throws Exception {
    String name = "python-" + label(way);
    return new MeasuredProgram(
        name,
        List.of(setup.python().toString(), "perf/overhead/batch.py", label(way)),
        receiver.environment(way),
        -1,
        folder.resolve(name + ".log"));
  }

  private void round(Variant variant, int round, Receiver receiver, Map<String, Median> medians)
      throws Exception {
    long receiverNanos = receiver.cpuNanos();
    Map<String, String> answer = variant.worker.ask("batches " + variant.batches);
    receiver.await(Long.parseLong(answer.get("spans")), variant.name);
    double receiverCpu = receiver.cpuNanos() - receiverNanos;
    double each = variant.batches * MICROS;
    double wall = Double.parseDouble(answer.get("wall"));
    double cpu = Double.parseDouble(answer.get("cpu"));
    if (!answer.get("failed").equals("0")) {
      throw new IllegalStateException(
          variant.name + ": " + answer.get("failed") + " batches were not taken");
    }
    results.row(
        variant.name,
        round > 0 ? Integer.toString(round) : "warm-up",
        variant.batches,
        wall / each,
        cpu / each,
        receiverCpu / each,
        (cpu + receiverCpu) / each);
    if (round > 0) {
      medians.computeIfAbsent("wall", unused -> new Median()).add(variant.name, wall / each);
      medians.computeIfAbsent("exporter", unused -> new Median()).add(variant.name, cpu / each);
      medians
          .computeIfAbsent("receiver", unused -> new Median())
          .add(variant.name, receiverCpu / each);
      medians
          .computeIfAbsent("cpu", unused -> new Median())
          .add(variant.name, (cpu + receiverCpu) / each);
    }
  }

  private void summarise(List<Variant> variants, Map<String, Median> medians) throws Exception {
    Map<String, Object> summary = new LinkedHashMap<>();
    for (Variant variant : variants) {
      for (String figure : List.of("wall", "exporter", "receiver", "cpu")) {
        summary.put(
            variant.name.replace('-', '_') + "_" + figure + "_us",
            medians.get(figure).of(variant.name));
      }
    }
    Median cpu = medians.get("cpu");
    Median exporter = medians.get("exporter");
    for (String language : List.of("java", "python")) {
      summary.put(
          language + "_cpu_http_to_ring",
          cpu.of(language + "-otlp-http") / cpu.of(language + "-ring"));
      summary.put(
          language + "_exporter_cpu_http_to_ring",
          exporter.of(language + "-otlp-http") / exporter.of(language + "-ring"));
      Bars bars =
          new Bars("512 spans of 8 attributes, " + language, "CPU of exporter and receiver, µs");
      variants.stream()
          .map(Variant::name)
          .filter(name -> name.startsWith(language))
          .forEach(name -> bars.bar(name, cpu.of(name)));
      bars.write(results.file("batch-" + language + ".svg"));
    }
    results.summary("batch", summary);
  }
}
