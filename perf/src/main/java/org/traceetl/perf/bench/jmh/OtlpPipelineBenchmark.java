package org.traceetl.perf.bench.jmh;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.common.ConfigException;
import org.traceetl.perf.bench.load.AgentLoad;
import org.traceetl.perf.bench.load.OtlpExport;
import org.traceetl.perf.bench.load.RenumberedExport;
import org.traceetl.perf.bench.load.SpanStream;

/**
 * Performs the work of the agent's pipeline thread, from the bytes of OTLP requests to the spool:
 * decode, filter, batch, frame; time per span. The spool is in memory. The bytes of a span in the
 * batches are printed at the end.
 */
@Fork(value = 1, jvmArgsAppend = "-XX:+UseSerialGC")
public class OtlpPipelineBenchmark extends StepBenchmark {
  private static final int APPLICATIONS = 30;
  private static final int SPANS = 32 * (256 + 1_024);

  /** Outcomes of an operation that are not rare: each is a series. */
  private static final int SERIES_OF_OPERATION = 6;

  /** A rule that sends spans as counts and durations, with the dimensions of the series. */
  private static final String METRICS_RULE =
      """
      drop:
        - application: "*"
          unless-slower-than: 1s
          keep: metrics
          dimensions: [http.request.method, http.response.status_code]
      """;

  /** Attributes of a span. */
  @Param("12")
  private int attributes;

  /** Approximate series of an application; its operations are drawn by Zipf shares. */
  @Param("30")
  private int series;

  /** Fewest spans of a request. */
  @Param("256")
  private int fewestSpans;

  /** Most spans of a request. */
  @Param("1024")
  private int mostSpans;

  /** What is sent of a span: all, what {@link #METRICS_RULE} keeps, or what servers demand. */
  @Param({"full", "filters", "demand"})
  private String detail;

  /** Whether the half-edges of the spans are sent. */
  @Param("false")
  private boolean edges;

  private AgentLoad load;

  @Setup(Level.Trial)
  public void setUp() throws IOException, ConfigException {
    OtlpExport export = new OtlpExport();
    int operations = Math.ceilDiv(series, SERIES_OF_OPERATION);
    List<RenumberedExport> requests =
        new SpanStream(7, APPLICATIONS, operations, attributes)
            .pairs(SPANS / (fewestSpans + mostSpans), fewestSpans, mostSpans).stream()
                .map(batch -> new RenumberedExport(export.of(batch)))
                .toList();
    load = new AgentLoad(requests);
    switch (detail) {
      case "full" -> {}
      case "filters" -> load.filters(FiltersFile.parse(METRICS_RULE.getBytes(UTF_8)));
      case "demand" -> load.demand();
      default -> throw new IllegalArgumentException("detail = " + detail);
    }
    if (edges) {
      load.edges();
    }
  }

  @Benchmark
  @OperationsPerInvocation(SPANS)
  public void take() {
    load.take(SPANS);
  }

  @TearDown(Level.Trial)
  public void tearDown() throws IOException {
    load.close();
    System.out.printf("%n# %s: %.1f bytes a span%n", detail, load.batchBytesPerSpan());
    if (edges) {
      System.out.printf(
          "# %.2f half-edges a span, %.1f bytes each%n",
          load.halfEdgesPerSpan(), load.bytesPerHalfEdge());
    }
  }
}
