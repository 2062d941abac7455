package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Runs {@link DecodingReceiver} as a process. */
final class Receiver implements AutoCloseable {
  private static final int PATIENCE_SECONDS = 30;

  private final MeasuredProgram process;
  private final String grpcPort;
  private final String httpPort;
  private final Path rings;
  private long expected;

  /**
   * Starts the receiver.
   *
   * @param rings the directory of rings, on tmpfs; is created
   * @param core that it is pinned to; below 0: none
   */
  Receiver(Path rings, int core, Path log) throws IOException {
    this.rings = rings;
    List<String> command = Jvm.command(DecodingReceiver.class, "-Xmx512m", "-XX:+UseSerialGC");
    command.add(rings.toString());
    process = new MeasuredProgram("receiver", command, Map.of(), core, log);
    Map<String, String> ports = process.answer();
    grpcPort = ports.get("grpc");
    httpPort = ports.get("http");
  }

  /** Returns the environment variables of an application that traces to it in this way. */
  Map<String, String> environment(Way way) {
    return way.environment(httpPort, grpcPort, rings);
  }

  long cpuNanos() {
    return process.cpuNanos();
  }

  /**
   * Waits for further spans.
   *
   * @throws IOException if fewer arrived within 30 s, or more, or malformed ones
   */
  void await(long spans, String sender) throws IOException {
    expected += spans;
    Map<String, String> answer = process.ask("await " + expected + " " + PATIENCE_SECONDS);
    long arrived = Long.parseLong(answer.get("spans"));
    if (arrived != expected || !answer.get("rejected").equals("0")) {
      throw new IOException(
          "of %d spans of %s %d arrived, and %s malformed ones"
              .formatted(spans, sender, spans + arrived - expected, answer.get("rejected")));
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
