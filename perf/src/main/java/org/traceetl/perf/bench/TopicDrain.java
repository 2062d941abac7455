package org.traceetl.perf.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.commons.io.file.PathUtils;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.testkit.EmbeddedRocketMq;
import picocli.CommandLine.Option;

/**
 * Drains a topic of a RocketMQ in this JVM, in rounds: the server's pipeline starts, and is timed
 * until the last message is recorded. CPU time is separated by thread; the JVM's own threads have
 * their own parts.
 */
abstract class TopicDrain extends Measurement {
  @Option(names = "--spans", description = "Spans in a round (default: ${DEFAULT-VALUE}).")
  protected int spans;

  @Option(
      names = "--rounds",
      description = "Rounds; the first warms up (default: ${DEFAULT-VALUE}).")
  protected int rounds;

  @Option(names = "--queues", description = "Queues of the topic (default: ${DEFAULT-VALUE}).")
  protected int queues = 4;

  @Option(names = "--workers", description = "Workers of the server (default: ${DEFAULT-VALUE}).")
  protected int workers = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--window",
      description = "Window of the server, in ISO 8601 (default: ${DEFAULT-VALUE}).")
  protected Duration window = Duration.ofSeconds(2);

  protected TopicDrain(int spans, int rounds) {
    this.spans = spans;
    this.rounds = rounds;
  }

  /** The messages to drain. */
  protected record Loaded(int messages, long spans, long bytes) {}

  /**
   * The results of a round.
   *
   * @param cpuNanos by part
   * @param more values of the additional columns
   */
  protected record Round(
      Loaded loaded,
      double seconds,
      double spansPerSecond,
      Map<String, Long> cpuNanos,
      int series,
      List<Object> more) {
    Round with(Object... values) {
      return new Round(loaded, seconds, spansPerSecond, cpuNanos, series, List.of(values));
    }

    double nanosPerSpan(String part) {
      return (double) cpuNanos.getOrDefault(part, 0L) / loaded.spans;
    }
  }

  /**
   * Measures all rounds.
   *
   * @param name of the results
   * @param columns in addition to those of every drain, with values of {@link Round#more}
   */
  protected final void measure(String name, EmbeddedRocketMq.Settings settings, String columns)
      throws Exception {
    StringBuilder all = new StringBuilder("round spans seconds spans_per_second cpu_ns_per_span");
    CpuByPart.PARTS.forEach(part -> all.append(" ").append(part).append("_cpu_ns_per_span"));
    results.columns(all + " " + columns);
    Path directory = Files.createTempDirectory("trace-etl-" + name);
    try (EmbeddedRocketMq rocketMq = EmbeddedRocketMq.start(directory, settings)) {
      List<Round> warm = new ArrayList<>();
      for (int number = 0; number < rounds; number++) {
        Round round = drain(rocketMq, number);
        List<Object> row = new ArrayList<>();
        row.addAll(List.of(number, round.loaded.spans, round.seconds, round.spansPerSecond));
        row.add(round.nanosPerSpan(CpuByPart.ALL));
        CpuByPart.PARTS.forEach(part -> row.add(round.nanosPerSpan(part)));
        row.addAll(round.more);
        results.row(row.toArray());
        if (number > 0) {
          warm.add(round);
        }
      }
      if (!warm.isEmpty()) {
        summarise(name, warm);
      }
    } finally {
      PathUtils.deleteDirectory(directory);
    }
  }

  /** Summarises the round with the median speed. */
  private void summarise(String name, List<Round> warm) {
    Round median = Results.median(warm, Round::spansPerSecond);
    Map<String, Object> pairs = new LinkedHashMap<>();
    pairs.put("spans_per_second", median.spansPerSecond);
    pairs.put("best_spans_per_second", warm.getLast().spansPerSecond);
    pairs.put("cpu_ns_per_span", median.nanosPerSpan(CpuByPart.ALL));
    CpuByPart.PARTS.forEach(
        part -> pairs.put(part + "_cpu_ns_per_span", median.nanosPerSpan(part)));
    pairs.putAll(more());
    pairs.put("bytes_per_span", (double) median.loaded.bytes / median.loaded.spans);
    pairs.put("series", median.series);
    results.summary(name, pairs);
  }

  /** Fills the topic if necessary, and drains it with a new pipeline. */
  protected abstract Round drain(EmbeddedRocketMq rocketMq, int number) throws Exception;

  /** Returns additional pairs of the summary, over all rounds except the first. */
  protected Map<String, Object> more() {
    return Map.of();
  }

  /**
   * Starts a pipeline, and times it from its first message.
   *
   * @param left counts down for each message that is recorded
   */
  protected static Round timed(Loaded loaded, CountDownLatch left, PipelineOnTopic pipeline)
      throws InterruptedException {
    CpuByPart before = CpuByPart.now();
    pipeline.start();
    while (left.getCount() == loaded.messages) {
      left.await(1, TimeUnit.MILLISECONDS);
    }
    long startNanos = System.nanoTime();
    double share = (double) left.getCount() / loaded.messages;
    if (!left.await(10, TimeUnit.MINUTES)) {
      throw new IllegalStateException(
          left.getCount() + " of " + loaded.messages + " messages were not recorded in 10 minutes");
    }
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    return new Round(
        loaded,
        seconds,
        loaded.spans * share / seconds,
        CpuByPart.now().since(before),
        pipeline.series(),
        List.of());
  }
}
