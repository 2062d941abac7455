package org.traceetl.perf.bench;

import org.traceetl.perf.bench.gate.Gate;
import org.traceetl.perf.bench.overhead.BatchOverhead;
import org.traceetl.perf.bench.overhead.Outage;
import org.traceetl.perf.bench.overhead.Shortener;
import org.traceetl.perf.bench.overhead.Sqlite;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Runs the measurement that the first argument names. */
@Command(
    name = "bench",
    subcommands = {
      Drain.class,
      OzheraDrain.class,
      WholePath.class,
      AgentBench.class,
      Rivals.class,
      Push.class,
      EdgeComparison.class,
      MeasureComparison.class,
      Fleet.class,
      Gate.class,
      BatchOverhead.class,
      Shortener.class,
      Sqlite.class,
      Outage.class
    })
public final class Bench {
  public static void main(String... arguments) {
    System.exit(new CommandLine(new Bench()).execute(arguments));
  }
}
