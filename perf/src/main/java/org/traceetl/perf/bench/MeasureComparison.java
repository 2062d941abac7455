package org.traceetl.perf.bench;

import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.bench.load.GrpcSender;
import org.traceetl.perf.bench.load.OtlpExport;
import org.traceetl.perf.bench.load.OtlpSender;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Compares measures of trace-etl with the signal to metrics connector of the OpenTelemetry
 * Collector, sample by sample, on the same bytes. Both also count calls and durations.
 */
@Command(
    name = "measures",
    description = {
      "Compares measures of trace-etl with the same metrics of the OpenTelemetry Collector's signal"
          + " to metrics connector on the same spans: each bucket, count and sum; and the CPU of a"
          + " span in both.",
      "",
      "Fails if a sample differs, or if the counts are not those of the spans sent.",
      ""
    })
final class MeasureComparison extends Measurement {
  private static final Duration WINDOW = Duration.ofSeconds(2);
  private static final Duration PAGE_LIMIT = Duration.ofMinutes(2);
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final int APPLICATIONS = 10;
  private static final int SPANS_PER_EXPORT = 500;

  /** One of as many spans calls a language model. */
  private static final int CHAT = 20;

  private static final double MOST_DIFFERENCE = 1e-9;
  private static final String REQUESTS = "http_server_request_duration_seconds";
  private static final String USAGE = "gen_ai_client_token_usage";
  private static final String TOKENS = "gen_ai_client_tokens_total";

  /** The same metrics as in measures.yaml of the Collector. */
  private static final String MEASURES =
      """
      measures:
        - name: http.server.request.duration
          description: Duration of HTTP server requests.
          kinds: [server]
          requires: [http.request.method]
          dimensions:
            - {attribute: http.request.method}
            - {attribute: http.route}
            - {attribute: http.response.status_code}
        - name: gen_ai.client.token.usage
          description: Number of input tokens used.
          unit: "{token}"
          type: histogram
          attribute: gen_ai.usage.input_tokens
          dimensions: [{attribute: gen_ai.request.model}]
          bounds: [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576]
        - name: gen_ai.client.tokens
          description: Input tokens.
          unit: "{token}"
          type: counter
          attribute: gen_ai.usage.input_tokens
          dimensions: [{attribute: gen_ai.request.model}]
      """;

  @Mixin private Installed installed;
  @Mixin private BuiltCollector collector;
  @Mixin private RunFolder folder;

  @Option(names = "--spans", description = "Spans (default: ${DEFAULT-VALUE}).")
  private int spans = 200_000;

  @Option(
      names = "--seed",
      description = "Of the spans; equal seeds give equal spans (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Ports ports = new Ports();
  private long requests;
  private long chats;
  private long tokens;

  @Override
  protected void measure() throws Exception {
    if (spans < 1) {
      throw new IllegalArgumentException("--spans=" + spans + " must be at least 1");
    }
    results.columns("sample ours collector");
    try {
      folder.run("measures", this::run);
    } finally {
      http.shutdownNow();
    }
  }

  private void run(Path data) throws Exception {
    List<byte[]> exports = exports();
    try (TraceEtl ours = new TraceEtl(data, ports, installed, List.of(), WINDOW, null, MEASURES);
        Collector theirs =
            collector.withMeasures(data, ports, "collector", BuiltCollector.GO_GOGC)) {
      ours.start(http);
      theirs.start(http);
      Map<String, Object> summary = new LinkedHashMap<>();
      summary.put("spans", spans);
      summary.put("cpu_nanos", cpuOfSpan(ours, exports));
      summary.put("collector_cpu_nanos", cpuOfSpan(theirs, exports));
      Set<String> different = awaitEqual(ours, theirs);
      Map<String, Double> samples = samples(ours);
      summary.put("samples", samples.size());
      summary.put("different", different.size());
      results.summary("measures", summary);
      if (!different.isEmpty()) {
        throw new IOException("%d samples differ: %s".formatted(different.size(), different));
      }
      check(samples, REQUESTS + "_count", requests);
      check(samples, USAGE + "_count", chats);
      check(samples, USAGE + "_sum", tokens);
      check(samples, TOKENS, tokens);
    }
  }

  /** Returns the spans as requests of one application each. */
  private List<byte[]> exports() {
    SplittableRandom random = new SplittableRandom(seed);
    List<byte[]> exports = new ArrayList<>();
    for (int sent = 0; sent < spans; sent += SPANS_PER_EXPORT) {
      ScopeSpans.Builder scope = ScopeSpans.newBuilder();
      for (int i = sent; i < Math.min(spans, sent + SPANS_PER_EXPORT); i++) {
        scope.addSpans(span(random));
      }
      exports.add(
          OtlpExport.request(
              Resource.newBuilder()
                  .addAttributes(
                      OtlpExport.attribute(
                          "service.name", "service-" + random.nextInt(APPLICATIONS))),
              scope));
    }
    return exports;
  }

  private Span span(SplittableRandom random) {
    long start = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
    boolean isChat = random.nextInt(CHAT) == 0;
    Span.Builder span =
        Span.newBuilder()
            .setTraceId(OtlpExport.id(random.nextLong(), random.nextLong()))
            .setSpanId(OtlpExport.id(random.nextLong()))
            .setName(isChat ? "chat" : "GET /orders/{id}")
            .setKind(isChat ? SpanKind.SPAN_KIND_CLIENT : SpanKind.SPAN_KIND_SERVER)
            .setStartTimeUnixNano(start)
            .setEndTimeUnixNano(
                start + (long) (TimeUnit.SECONDS.toNanos(20) * Math.pow(random.nextDouble(), 4)));
    if (isChat) {
      long used = (long) (2_000_000 * Math.pow(random.nextDouble(), 6));
      chats++;
      tokens += used;
      span.addAttributes(OtlpExport.attribute("gen_ai.request.model", "m" + random.nextInt(3)))
          .addAttributes(
              KeyValue.newBuilder()
                  .setKey("gen_ai.usage.input_tokens")
                  .setValue(AnyValue.newBuilder().setIntValue(used)));
    } else {
      requests++;
      span.addAttributes(OtlpExport.attribute("http.request.method", "GET"))
          .addAttributes(OtlpExport.attribute("http.route", "/r" + random.nextInt(20)))
          .addAttributes(
              OtlpExport.attribute(
                  "http.response.status_code", random.nextInt(50) == 0 ? "500" : "200"));
    }
    return span.build();
  }

  /** Sends the requests; returns the CPU time of all programs for each span. */
  private long cpuOfSpan(Contender contender, List<byte[]> exports)
      throws IOException, InterruptedException {
    long before = cpuNanos(contender);
    try (OtlpSender sender = new GrpcSender(contender.otlpPort(), 1)) {
      for (byte[] export : exports) {
        String refusal = sender.await(export);
        if (refusal != null) {
          throw new IOException("a request was refused: " + refusal);
        }
      }
    }
    contender.awaitTaken(spans);
    return (cpuNanos(contender) - before) / spans;
  }

  private static long cpuNanos(Contender contender) {
    return contender.programs().stream()
        .map(Program::pid)
        .mapToLong(pid -> new Usage(pid).cpuNanos())
        .sum();
  }

  /** Waits until no sample differs, at most for a time; returns those that do. */
  private Set<String> awaitEqual(Contender ours, Contender theirs)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    Set<String> different = different(samples(ours), samples(theirs));
    while (!different.isEmpty() && System.nanoTime() - startNanos < PAGE_LIMIT.toNanos()) {
      Thread.sleep(LOOK);
      different = different(samples(ours), samples(theirs));
    }
    Map<String, Double> own = samples(ours);
    Map<String, Double> other = samples(theirs);
    for (String name : all(own, other)) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("sample", name);
      row.put("ours", own.getOrDefault(name, Double.NaN));
      row.put("collector", other.getOrDefault(name, Double.NaN));
      results.row(row);
    }
    return different;
  }

  private static Set<String> all(Map<String, Double> own, Map<String, Double> other) {
    Set<String> all = new TreeSet<>(own.keySet());
    all.addAll(other.keySet());
    return all;
  }

  private static Set<String> different(Map<String, Double> own, Map<String, Double> other) {
    Set<String> different = new TreeSet<>();
    for (String name : all(own, other)) {
      double one = own.getOrDefault(name, Double.NaN);
      double two = other.getOrDefault(name, Double.NaN);
      // The Collector adds up doubles.
      if (!(Math.abs(one - two) <= MOST_DIFFERENCE * Math.max(1, Math.abs(one)))) {
        different.add(name);
      }
    }
    return own.isEmpty() ? Set.of("all") : different;
  }

  /** Returns the sum of the samples with equal names and labels, without those of the systems. */
  private Map<String, Double> samples(Contender contender)
      throws IOException, InterruptedException {
    Map<String, Double> samples = new TreeMap<>();
    for (PageSample sample : PageSample.of(http, contender.page())) {
      String name = sample.name();
      if (!name.startsWith(REQUESTS) && !name.startsWith("gen_ai_") || name.endsWith("_created")) {
        continue;
      }
      Map<String, String> labels = new TreeMap<>(sample.labels());
      labels.keySet().removeIf(label -> label.startsWith("trace_etl_") || label.equals("instance"));
      String job = labels.remove("job");
      if (job != null) {
        labels.put("service_name", job);
      }
      labels.computeIfPresent("le", (le, bound) -> String.valueOf(bound(bound)));
      samples.merge(name + labels, sample.value(), Double::sum);
    }
    return samples;
  }

  private static double bound(String bound) {
    return Double.parseDouble(bound.replace("Inf", "Infinity"));
  }

  private static void check(Map<String, Double> samples, String name, long expected)
      throws IOException {
    double sum =
        samples.entrySet().stream()
            .filter(sample -> sample.getKey().startsWith(name + "{"))
            .mapToDouble(Map.Entry::getValue)
            .sum();
    if (Math.abs(sum - expected) > MOST_DIFFERENCE * expected) {
      throw new IOException("%s is %s in place of %d".formatted(name, sum, expected));
    }
  }
}
