package org.traceetl.perf.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.traceetl.testkit.Ports;
import picocli.CommandLine.Option;

/** The OpenTelemetry Collector that {@code bin/bench} builds; a group of arguments. */
final class BuiltCollector {
  /** Go's default of its environment variable GOGC. */
  static final int GO_GOGC = 100;

  private static final Path CONFIGURATIONS = Path.of("perf", "rivals", "collector");

  @Option(
      names = "--collector",
      paramLabel = "FILE",
      description = "The collector's program (default: ${DEFAULT-VALUE}).")
  private Path program = Path.of(".cache", "collector", "collector");

  @Option(
      names = "--collector-config",
      paramLabel = "FILE",
      description = "Its configuration (default: ${DEFAULT-VALUE}).")
  private Path configuration = CONFIGURATIONS.resolve("collector.yaml");

  @Option(
      names = "--collector-edges",
      paramLabel = "FILE",
      description = "What is added to it for the service graph (default: ${DEFAULT-VALUE}).")
  private Path edges = CONFIGURATIONS.resolve("edges.yaml");

  @Option(
      names = "--collector-measures",
      paramLabel = "FILE",
      description = "What is added to it for measures (default: ${DEFAULT-VALUE}).")
  private Path measures = CONFIGURATIONS.resolve("measures.yaml");

  /**
   * Returns a collector that is not started.
   *
   * @param gogc Go's environment variable: heap growth, in percent, before the garbage collector
   *     runs
   */
  Collector plain(Path directory, Ports ports, String name, int gogc) throws IOException {
    return new Collector(directory, ports, name, program, List.of(configuration), gogc, Map.of());
  }

  /** Returns a collector that also has the metrics of measures; see {@link #plain}. */
  Collector withMeasures(Path directory, Ports ports, String name, int gogc) throws IOException {
    return new Collector(
        directory, ports, name, program, List.of(configuration, measures), gogc, Map.of());
  }

  /** Returns a collector that also counts the service graph; see {@link #plain}. */
  Collector withEdges(Path directory, Ports ports, String name, int gogc, EdgeLimits waiting)
      throws IOException {
    return new Collector(
        directory,
        ports,
        name,
        program,
        List.of(configuration, edges),
        gogc,
        waiting.environment());
  }
}
