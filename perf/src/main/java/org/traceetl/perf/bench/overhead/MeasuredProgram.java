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
 * A measured application. The process executes each line of its standard input, and answers with a
 * line of {@code key=value} pairs. It runs through all rounds, so that it is warm.
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
   * Starts the program, which must report that it is ready by a first line.
   *
   * @param core that it is pinned to; below 0: none
   * @param log receives its standard error
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

  long pid() {
    return process.pid();
  }

  /** Returns the pairs of its next line; the first line reports that it is ready. */
  Map<String, String> answer() throws IOException {
    String line = answers.readLine();
    if (line == null) {
      throw new IOException(name + " has ended; see " + log);
    }
    Map<String, String> pairs = new HashMap<>();
    for (String pair : line.split(" ")) {
      int sign = pair.indexOf('=');
      if (sign < 0) {
        throw new IOException(name + " printed \"" + line + "\"; see " + log);
      }
      pairs.put(pair.substring(0, sign), pair.substring(sign + 1));
    }
    return pairs;
  }

  Map<String, String> ask(String request) throws IOException {
    requests.write(request + "\n");
    requests.flush();
    return answer();
  }

  long cpuNanos() {
    return cpu.nanos();
  }

  /** Closes its input, and kills it if it does not end. */
  @Override
  public void close() {
    try {
      requests.close();
    } catch (IOException e) {
      // The process has already ended.
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
