package org.traceetl.perf.bench.gate;

import java.util.List;
import java.util.Map;
import org.traceetl.perf.bench.jmh.GroupBenchmark;
import org.traceetl.perf.bench.jmh.OtlpPipelineBenchmark;
import org.traceetl.perf.bench.jmh.PageBenchmark;
import org.traceetl.perf.bench.jmh.RecordBenchmark;
import org.traceetl.perf.bench.jmh.StepBenchmark;

/**
 * A benchmark that the gate runs with fixed work: the same number of calls on every machine.
 *
 * @param name its line in the baseline
 * @param unit what its amounts refer to: {@code span} or {@code page}
 * @param parameters by name; others have one default value each
 * @param warmUpCalls of each of the iterations before those that count
 * @param calls of each iteration that counts
 */
record Figure(
    String name,
    String unit,
    Class<? extends StepBenchmark> benchmark,
    String method,
    Map<String, String> parameters,
    int warmUpCalls,
    int calls) {
  static final List<Figure> ALL =
      List.of(
          agent("full"),
          agent("filters"),
          agent("demand"),
          new Figure(
              "server",
              "span",
              RecordBenchmark.class,
              "oneWorker",
              Map.of("dimensions", "true", "histogram", "CLASSIC"),
              16,
              // Two windows.
              8),
          new Figure(
              "server-groups",
              "span",
              GroupBenchmark.class,
              "record",
              Map.of("form", "groups"),
              // 30 windows.
              450,
              450),
          new Figure(
              "page",
              "page",
              PageBenchmark.class,
              "foldAndRender",
              Map.of("encoding", "OPENMETRICS_GZIP", "touched", "0.1"),
              4,
              4));

  private static Figure agent(String detail) {
    return new Figure(
        "agent-" + detail,
        "span",
        OtlpPipelineBenchmark.class,
        "take",
        Map.of("detail", detail),
        20,
        20);
  }

  /** Returns the regular expression that JMH needs to run only this benchmark. */
  String pattern() {
    return "^\\Q" + benchmark.getName() + "." + method + "\\E$";
  }
}
