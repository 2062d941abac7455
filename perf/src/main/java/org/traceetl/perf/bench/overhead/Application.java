package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.traceetl.perf.bench.load.ExportLoad;
import org.traceetl.perf.bench.load.Load;
import org.traceetl.perf.bench.process.Usage;

/**
 * A process that does the work of 30 applications at a steady rate: untraced, or with an
 * OpenTelemetry SDK for each, which exports the spans.
 */
public final class Application implements Load {
  /** The key of its process among {@link #programs()}. */
  public static final String NAME = "application";

  private static final String MAIN = "org.traceetl.perf.bench.overhead.app.FleetApp";

  private static final String NO_PORT = "0";

  private final MeasuredProgram process;
  private final Path log;
  private final double rate;
  private final Usage usage;

  private Application(
      String how,
      List<String> jvmOptions,
      Map<String, String> environment,
      double spansPerSecond,
      Path folder)
      throws IOException {
    String name = NAME + "-" + how;
    log = folder.resolve(name + ".log");
    rate = spansPerSecond;
    List<String> command = Jvm.command(MAIN, jvmOptions.toArray(String[]::new));
    command.add(how);
    process = new MeasuredProgram(name, command, environment, -1, log);
    usage = new Usage(process.pid());
    boolean ready = false;
    try {
      process.answer();
      ready = true;
    } finally {
      if (!ready) {
        process.close();
      }
    }
  }

  /**
   * Starts an application that does the work alone.
   *
   * @param spansPerSecond its rate, as spans that it would create
   * @param folder gets its log
   */
  public static Application untraced(List<String> jvmOptions, double spansPerSecond, Path folder)
      throws IOException {
    return new Application("untraced", jvmOptions, Map.of(), spansPerSecond, folder);
  }

  /**
   * Starts an application with the ring's exporter.
   *
   * @param rings the directory of an agent that runs
   */
  public static Application ring(
      List<String> jvmOptions, double spansPerSecond, Path folder, Path rings) throws IOException {
    Map<String, String> environment = Way.RING.environment(NO_PORT, NO_PORT, rings);
    return new Application("ring", jvmOptions, environment, spansPerSecond, folder);
  }

  /** Starts an application with the SDK's exporter, OTLP over gRPC, and its defaults. */
  public static Application otlp(
      List<String> jvmOptions, double spansPerSecond, Path folder, int grpcPort)
      throws IOException {
    Map<String, String> environment =
        Way.OTLP_GRPC.environment(NO_PORT, Integer.toString(grpcPort), folder);
    return new Application("otlp", jvmOptions, environment, spansPerSecond, folder);
  }

  @Override
  public ExportLoad.Sent send(long nanos, double spansPerSecond) throws IOException {
    Map<String, String> answer =
        process.ask("work " + nanos + " " + Math.min(rate, spansPerSecond));
    long spans = Long.parseLong(answer.get("spans"));
    long dropped = Long.parseLong(answer.get("dropped"));
    long failed = Long.parseLong(answer.get("failed"));
    if (dropped != 0 || failed != 0) {
      throw new IOException(
          ("%s ended %d spans; %d were dropped because a queue or ring was full, and exports of %d"
                  + " failed. Set a lower --rate; see %s")
              .formatted(process.name(), spans, dropped, failed, log));
    }
    return new ExportLoad.Sent(0, spans, 0, 0, "");
  }

  @Override
  public Map<String, Usage> programs() {
    return Map.of(NAME, usage);
  }

  @Override
  public void close() {
    process.close();
  }
}
