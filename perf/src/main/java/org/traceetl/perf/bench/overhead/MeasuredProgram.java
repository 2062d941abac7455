package org.traceetl.perf.bench.overhead;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.bench.process.CpuClock;

/**
 * An application that is measured: a process that does what a line on its standard input asks for
 * and answers each by a line of {@code key=value} pairs. It lives through all rounds, so that
 * rounds find it warm.
 */
final class MeasuredProgram implements AutoCloseable {
  private static final long EXIT_SECONDS = 20;

  private final String name;
  private final Path log;
  private final Process process;
  private final BufferedReader answers;
  private final BufferedWriter requests;
  private final CpuClock cpu;

  /**
   * Starts it; it has to say that it is ready by a first line.
   *
   * @param core that it is pinned to; below 0: none
   * @param log gets its standard error
   */
  MeasuredProgram(
      String name, List<String> command, Map<String, String> environment, int core, Path log)
      throws IOException {
    this.name = name;
    this.log = log;
    List<String> line = new ArrayList<>();
    if (core >= 0) {
      line.addAll(List.of("taskset", "-c", Integer.toString(core)));
    }
    line.addAll(List.of("setpriv", "--pdeathsig", "KILL"));
    line.addAll(command);
    ProcessBuilder builder =
        new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().keySet().removeIf(key -> key.startsWith("OTEL_"));
    builder.environment().putAll(environment);
    process = builder.start();
    answers = process.inputReader();
    requests = process.outputWriter();
    cpu = new CpuClock(process.pid());
  }

  String name() {
    return name;
  }

  /** What its first line says, when it is ready; and each further line. */
  Map<String, String> answer() throws IOException {
    String line = answers.readLine();
    if (line == null) {
      throw new IOException(name + " has ended; see " + log);
    }
    Map<String, String> pairs = new HashMap<>();
    for (String pair : line.split(" ")) {
      int sign = pair.indexOf('=');
      if (sign < 0) {
        throw new IOException(name + " says \"" + line + "\"; see " + log);
      }
      pairs.put(pair.substring(0, sign), pair.substring(sign + 1));
    }
    return pairs;
  }

  /** Has it do something, and waits until it is done. */
  Map<String, String> ask(String request) throws IOException {
    requests.write(request + "\n");
    requests.flush();
    return answer();
  }

  /** CPU time of the process since it began, as the kernel accounts it. */
  long cpuNanos() {
    return cpu.nanos();
  }

  /** Ends it by the end of its input, and else by force. */
  @Override
  public void close() {
    try {
      requests.close();
    } catch (IOException e) {
      // It has ended already.
    }
    try {
      if (!process.waitFor(EXIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
