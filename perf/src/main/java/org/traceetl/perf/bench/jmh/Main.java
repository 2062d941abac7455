package org.traceetl.perf.bench.jmh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.traceetl.perf.bench.report.Results;

/**
 * Runs JMH with its own arguments and the allocation profiler. Writes results in the format of all
 * benchmarks: {@code jmh.csv} and one line of pairs. JMH's own results, including secondary ones,
 * are in {@code jmh-all.csv}, unless {@code -rff} names another file.
 */
public final class Main {
  private static final String ALLOCATED = "gc.alloc.rate.norm";

  private final Results results = new Results();

  private Main() {}

  public static void main(String... arguments) throws IOException {
    try {
      CommandLineOptions options = new CommandLineOptions(arguments);
      if (options.shouldHelp()
          || options.shouldList()
          || options.shouldListWithParams()
          || options.shouldListProfilers()
          || options.shouldListResultFormats()) {
        org.openjdk.jmh.Main.main(arguments);
      } else {
        new Main().run(options);
      }
    } catch (CommandLineOptionException e) {
      System.err.println("bin/bench jmh: " + e.getMessage() + "; see bin/bench jmh -h");
      System.exit(2);
    } catch (RunnerException e) {
      System.err.println("bin/bench jmh: " + e.getMessage());
      System.exit(1);
    }
  }

  private void run(CommandLineOptions options) throws IOException, RunnerException {
    ChainedOptionsBuilder all = new OptionsBuilder().parent(options).addProfiler(GCProfiler.class);
    if (!options.getResult().hasValue()) {
      Path file = results.file("jmh-all.csv");
      Files.createDirectories(file.getParent());
      all.resultFormat(ResultFormatType.CSV).result(file.toString());
    }
    Map<String, Object> scores = new LinkedHashMap<>();
    results.columns("benchmark params score error unit bytes_per_op");
    for (RunResult run : new Runner(all.build()).run()) {
      BenchmarkParams benchmark = run.getParams();
      String name = shortName(benchmark.getBenchmark());
      Result<?> score = run.getPrimaryResult();
      Result<?> allocated = run.getSecondaryResults().get(ALLOCATED);
      results.row(
          name,
          params(benchmark, ":", " "),
          score.getScore(),
          score.getScoreError(),
          score.getScoreUnit(),
          allocated == null ? "" : allocated.getScore());
      String params = params(benchmark, "_", "_");
      scores.put(params.isEmpty() ? name : name + "_" + params, score.getScore());
    }
    results.summary("jmh", scores);
  }

  private static String shortName(String benchmark) {
    return benchmark.substring(benchmark.lastIndexOf('.', benchmark.lastIndexOf('.') - 1) + 1);
  }

  private static String params(BenchmarkParams benchmark, String equal, String between) {
    return benchmark.getParamsKeys().stream()
        .map(key -> key + equal + benchmark.getParam(key))
        .collect(Collectors.joining(between));
  }
}
