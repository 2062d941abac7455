package org.traceetl.perf.bench.overhead;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.perf.bench.Measurement;
import org.traceetl.perf.bench.report.Bars;
import org.traceetl.perf.bench.report.Results;
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
          + " agent's sources: OTLP/HTTP, OTLP/gRPC and the ring, Java (SDK and own provider) and"
          + " Python.",
      ""
    })
public final class BatchOverhead extends Measurement {
  private static final double MICROS = 1e3;
  private static final String JAVA_APP = "org.traceetl.perf.bench.overhead.app.BatchApp";

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

  @Option(
      names = "--variants",
      split = ",",
      description = "Which of them (default: ${DEFAULT-VALUE}).")
  private List<String> names =
      List.of(
          "java-otlp-http",
          "python-otlp-http",
          "java-otlp-grpc",
          "python-otlp-grpc",
          "java-ring",
          "java-own-ring",
          "python-ring");

  private final Medians medians = new Medians();

  /** A way of delivery, from one language. */
  private record Variant(String name, MeasuredProgram worker, int batches) {}

  @Override
  protected void measure() throws Exception {
    setup.runWithReceiver("batch", this::measure);
  }

  private void measure(Path folder, Receiver receiver) throws Exception {
    results.columns("variant round batches wall_us exporter_cpu_us receiver_cpu_us cpu_us");
    List<Variant> variants = new ArrayList<>();
    try {
      for (String name : names) {
        variants.add(
            name.startsWith("java-")
                ? new Variant(name, java(name, receiver, folder), javaBatches)
                : new Variant(name, python(name, receiver, folder), pythonBatches));
      }
      for (Variant variant : variants) {
        variant.worker.answer();
      }
      for (int round = 1 - warmUpRounds; round <= rounds; round++) {
        for (Variant variant : setup.shuffled(variants)) {
          round(variant, round, receiver);
        }
      }
      summarise(variants);
    } finally {
      variants.forEach(variant -> variant.worker.close());
    }
  }

  /** Returns what follows the language. */
  private static String label(String name) {
    return name.substring(name.indexOf('-') + 1);
  }

  private static Way way(String name) {
    return switch (label(name)) {
      case "otlp-http" -> Way.OTLP_HTTP;
      case "otlp-grpc" -> Way.OTLP_GRPC;
      default -> Way.RING;
    };
  }

  private static MeasuredProgram java(String name, Receiver receiver, Path folder)
      throws Exception {
    Way way = way(name);
    List<String> command = Jvm.command(JAVA_APP, "-Xmx1g", "-XX:+UseSerialGC");
    command.add(way == Way.RING ? label(name) : "otlp");
    return new MeasuredProgram(
        name, command, receiver.environment(way), -1, folder.resolve(name + ".log"));
  }

  private MeasuredProgram python(String name, Receiver receiver, Path folder) throws Exception {
    return new MeasuredProgram(
        name,
        List.of(setup.python().toString(), "perf/overhead/batch.py", label(name)),
        receiver.environment(way(name)),
        -1,
        folder.resolve(name + ".log"));
  }

  private void round(Variant variant, int round, Receiver receiver) throws Exception {
    long receiverNanos = receiver.cpuNanos();
    Map<String, String> answer = variant.worker.ask("batches " + variant.batches);
    receiver.await(Long.parseLong(answer.get("spans")), variant.name);
    double receiverCpu = receiver.cpuNanos() - receiverNanos;
    double each = variant.batches * MICROS;
    double wall = Double.parseDouble(answer.get("wall"));
    double cpu = Double.parseDouble(answer.get("cpu"));
    if (!answer.get("failed").equals("0")) {
      throw new IllegalStateException(
          variant.name + ": " + answer.get("failed") + " batches were not accepted");
    }
    results.row(
        variant.name,
        Results.round(round),
        variant.batches,
        wall / each,
        cpu / each,
        receiverCpu / each,
        (cpu + receiverCpu) / each);
    if (round > 0) {
      medians.add("wall", variant.name, wall / each);
      medians.add("exporter", variant.name, cpu / each);
      medians.add("receiver", variant.name, receiverCpu / each);
      medians.add("cpu", variant.name, (cpu + receiverCpu) / each);
    }
  }

  private void summarise(List<Variant> variants) throws Exception {
    Map<String, Object> summary = new LinkedHashMap<>();
    for (Variant variant : variants) {
      for (String figure : List.of("wall", "exporter", "receiver", "cpu")) {
        summary.put(
            variant.name.replace('-', '_') + "_" + figure + "_us",
            medians.of(figure, variant.name));
      }
    }
    for (String name : names) {
      String language = name.substring(0, name.indexOf('-'));
      if (way(name) == Way.RING) {
        for (String figure : List.of("cpu", "exporter")) {
          summary.put(
              name.replace('-', '_') + "_" + figure + "_http_to_ring",
              medians.of(figure, language + "-otlp-http") / medians.of(figure, name));
        }
      }
    }
    for (String language : List.of("java", "python")) {
      List<String> ofLanguage = names.stream().filter(name -> name.startsWith(language)).toList();
      if (!ofLanguage.isEmpty()) {
        Bars bars =
            new Bars("512 spans of 8 attributes, " + language, "CPU of exporter and receiver, µs");
        ofLanguage.forEach(name -> bars.bar(name, medians.of("cpu", name)));
        bars.write(results.file("batch-" + language + ".svg"));
      }
    }
    results.summary("batch", summary);
  }
}
