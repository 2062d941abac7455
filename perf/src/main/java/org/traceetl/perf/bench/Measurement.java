package org.traceetl.perf.bench;

import java.util.concurrent.Callable;
import org.traceetl.perf.bench.report.Results;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A program that measures and writes its results. */
public abstract class Measurement implements Callable<Integer> {
  @Mixin protected Results results;

  @Option(names = "--help", usageHelp = true, description = "Prints this help.")
  private boolean help;

  protected abstract void measure() throws Exception;

  @Override
  public final Integer call() throws Exception {
    measure();
    return 0;
  }
}
