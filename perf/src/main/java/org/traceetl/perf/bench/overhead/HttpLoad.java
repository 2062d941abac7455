package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Measurements of a service by k6.
 *
 * @param requests sent
 * @param failed requests without an answer, or with an error
 * @param notSent requests that were due but not sent, because all senders waited
 * @param p50Millis median of the time to an answer
 * @param p99Millis its 99th percentile
 * @param maxMillis its maximum
 */
record HttpLoad(
    long requests,
    long failed,
    long notSent,
    double p50Millis,
    double p99Millis,
    double maxMillis) {
  /**
   * Sends requests at a constant rate.
   *
   * @param port of a shortener
   * @param core that k6 is pinned to; below 0: none
   * @param log receives the output of k6
   */
  static HttpLoad run(Path k6, String port, int requestsPerSecond, int seconds, int core, Path log)
      throws IOException {
    List<String> command =
        List.of(
            k6.toString(),
            "run",
            "--quiet",
            "--no-usage-report",
            "--address=",
            Path.of("perf", "overhead", "load.js").toString());
    Map<String, String> environment =
        Map.of(
            "PORT",
            port,
            "RATE",
            Integer.toString(requestsPerSecond),
            "DURATION",
            Integer.toString(seconds),
            "GOMAXPROCS",
            core < 0 ? Integer.toString(Runtime.getRuntime().availableProcessors()) : "1");
    try (MeasuredProgram sender = new MeasuredProgram("k6", command, environment, core, log)) {
      Map<String, String> seen = sender.answer();
      return new HttpLoad(
          (long) Double.parseDouble(seen.get("requests")),
          (long) Double.parseDouble(seen.get("failed")),
          (long) Double.parseDouble(seen.get("dropped")),
          Double.parseDouble(seen.get("p50")),
          Double.parseDouble(seen.get("p99")),
          Double.parseDouble(seen.get("max")));
    }
  }
}
