package org.traceetl.perf.bench.gate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Linux's counter of instructions in user mode, read by {@code perf}. */
final class InstructionCounter {
  static final String EVENT = "instructions:u";

  private InstructionCounter() {}

  /** Returns why instructions cannot be counted here; empty if they can. */
  static String problem() throws InterruptedException {
    return problem("perf");
  }

  static String problem(String perf) throws InterruptedException {
    ProcessBuilder count = new ProcessBuilder(perf, "stat", "-x", ",", "-e", EVENT, "true");
    count.environment().put("LC_ALL", "C");
    count.redirectErrorStream(true);
    try {
      Process process = count.start();
      List<String> lines;
      try (InputStream out = process.getInputStream()) {
        lines = new String(out.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
      }
      return problem(process.waitFor(), lines);
    } catch (IOException e) {
      return "perf cannot be run: " + e.getMessage();
    }
  }

  /** Interprets the exit code and output of {@code perf stat}. */
  static String problem(int exitCode, List<String> lines) {
    if (exitCode != 0) {
      return "perf failed with exit code " + exitCode + ": " + String.join(" ", lines).strip();
    }
    return lines.stream().anyMatch(line -> line.matches("\\d+,.*" + EVENT + ".*"))
        ? ""
        : "this machine has no counter of instructions that perf can read";
  }
}
