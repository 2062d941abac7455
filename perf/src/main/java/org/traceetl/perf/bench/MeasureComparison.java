package org.traceetl.perf.bench;

import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
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
      "Fails if a sample differs after spans that were sent one request at a time, or if our counts"
          + " are not those of all spans sent. collector_share is the share that the Collector has of"
          + " spans that were sent with 32 requests under way.",
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
  private static final int MOST_NAMED = 5;

  /**
   * Spans that are compared. They are sent one request at a time: of requests at the same time, the
   * Collector's delta_to_cumulative drops points that are not newer than those before.
   */
  private static final int EQUAL_SPANS = 100_000;

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

  @Option(names = "--spans", description = "Spans of a round (default: ${DEFAULT-VALUE}).")
  private int spans = 1_000_000;

  @Option(
      names = "--rounds",
      description =
          "Rounds of both in turn; the first half warms up" + " (default: ${DEFAULT-VALUE}).")
  private int rounds = 6;

  @Option(
      names = "--seed",
      description = "Of the spans; equal seeds give equal spans (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Ports ports = new Ports();
  private final long startUnixNanos = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());

  /** Spans sent, by page. */
  private final Map<URI, Long> taken = new HashMap<>();

  // Of what both were sent.
  private long requests;
  private long chats;
  private long tokens;

  @Override
  protected void measure() throws Exception {
    if (spans < 1 || spans % SPANS_PER_EXPORT != 0) {
      throw new IllegalArgumentException(
          "--spans=%d must be a multiple of %d".formatted(spans, SPANS_PER_EXPORT));
    }
    if (rounds < 1) {
      throw new IllegalArgumentException("--rounds=" + rounds + " must be at least 1");
    }
    results.columns("sample ours collector");
    try {
      folder.run("measures", this::run);
    } finally {
      http.shutdownNow();
    }
  }

  private void run(Path data) throws Exception {
    try (TraceEtl ours = new TraceEtl(data, ports, installed, List.of(), WINDOW, null, MEASURES);
        Collector theirs =
            collector.withMeasures(data, ports, "collector", BuiltCollector.GO_GOGC)) {
      ours.start(http);
      theirs.start(http);
      send(ours, seed, EQUAL_SPANS, 1);
      send(theirs, seed, EQUAL_SPANS, 1);
      Set<String> different = awaitEqual(ours, theirs);
      long[] ourNanos = new long[rounds];
      long[] theirNanos = new long[rounds];
      for (int round = 0; round < rounds; round++) {
        ourNanos[round] = send(ours, seed + 1 + round, spans, Driver.UNANSWERED) / spans;
        theirNanos[round] = send(theirs, seed + 1 + round, spans, Driver.UNANSWERED) / spans;
      }
      Map<String, Object> summary = new LinkedHashMap<>();
      summary.put("spans", (long) rounds * spans);
      summary.put("cpu_nanos", medianOfSecondHalf(ourNanos));
      summary.put("collector_cpu_nanos", medianOfSecondHalf(theirNanos));
      summary.put("samples", samples(ours).size());
      summary.put("different", different.size());
      String missing = awaitAll(ours);
      double counted = sum(samples(ours), REQUESTS + "_count");
      summary.put("collector_share", sum(samples(theirs), REQUESTS + "_count") / counted);
      results.summary("measures", summary);
      if (!different.isEmpty()) {
        throw new IOException(
            "%d samples differ, the first are %s"
                .formatted(different.size(), different.stream().limit(MOST_NAMED).toList()));
      }
      if (missing != null) {
        throw new IOException(missing);
      }
    }
  }

  private static long medianOfSecondHalf(long[] nanos) {
    long[] half = Arrays.copyOfRange(nanos, nanos.length / 2, nanos.length);
    Arrays.sort(half);
    return half[half.length / 2];
  }

  /** Returns a request with the next spans, of one application. */
  private byte[] export(SplittableRandom random) {
    ScopeSpans.Builder scope = ScopeSpans.newBuilder();
    for (int i = 0; i < SPANS_PER_EXPORT; i++) {
      scope.addSpans(span(random));
    }
    return OtlpExport.request(
        Resource.newBuilder()
            .addAttributes(
                OtlpExport.attribute("service.name", "service-" + random.nextInt(APPLICATIONS))),
        scope);
  }

  private Span span(SplittableRandom random) {
    boolean isChat = random.nextInt(CHAT) == 0;
    Span.Builder span =
        Span.newBuilder()
            .setTraceId(OtlpExport.id(random.nextLong(), random.nextLong()))
            .setSpanId(OtlpExport.id(random.nextLong()))
            .setName(isChat ? "chat" : "GET /orders/{id}")
            .setKind(isChat ? SpanKind.SPAN_KIND_CLIENT : SpanKind.SPAN_KIND_SERVER)
            .setStartTimeUnixNano(startUnixNanos)
            .setEndTimeUnixNano(
                startUnixNanos
                    + (long) (TimeUnit.SECONDS.toNanos(20) * Math.pow(random.nextDouble(), 4)));
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

  /**
   * Sends spans, equal ones for equal seeds, with a maximum number of requests under way; returns
   * the CPU time of all programs for them.
   */
  private long send(Contender contender, long seed, int spans, int mostUnanswered)
      throws IOException, InterruptedException {
    SplittableRandom random = new SplittableRandom(seed);
    long before = cpuNanos(contender);
    Semaphore unanswered = new Semaphore(mostUnanswered);
    Queue<String> refusals = new ConcurrentLinkedQueue<>();
    try (OtlpSender sender = new GrpcSender(contender.otlpPort(), 1)) {
      for (int sent = 0; sent < spans; sent += SPANS_PER_EXPORT) {
        unanswered.acquire();
        sender.send(
            export(random),
            refusal -> {
              if (refusal != null) {
                refusals.add(refusal);
              }
              unanswered.release();
            });
      }
      unanswered.acquire(mostUnanswered);
    }
    if (!refusals.isEmpty()) {
      throw new IOException(
          "%d requests were refused: %s".formatted(refusals.size(), refusals.peek()));
    }
    contender.awaitTaken(taken.merge(contender.page(), (long) spans, Long::sum));
    return cpuNanos(contender) - before;
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

  /** Waits until our page has all spans; returns null, or what is still missing after a time. */
  private String awaitAll(Contender ours) throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    String missing = missing(samples(ours));
    while (missing != null && System.nanoTime() - startNanos < PAGE_LIMIT.toNanos()) {
      Thread.sleep(LOOK);
      missing = missing(samples(ours));
    }
    return missing;
  }

  /** Both were sent the same spans. */
  private String missing(Map<String, Double> samples) {
    Map<String, Long> expected =
        Map.of(
            REQUESTS + "_count",
            requests / 2,
            USAGE + "_count",
            chats / 2,
            USAGE + "_sum",
            tokens / 2,
            TOKENS,
            tokens / 2);
    for (Map.Entry<String, Long> one : expected.entrySet()) {
      double sum = sum(samples, one.getKey());
      if (Math.abs(sum - one.getValue()) > MOST_DIFFERENCE * one.getValue()) {
        return "%s is %s in place of %d".formatted(one.getKey(), sum, one.getValue());
      }
    }
    return null;
  }

  private static double sum(Map<String, Double> samples, String name) {
    return samples.entrySet().stream()
        .filter(sample -> sample.getKey().startsWith(name + "{"))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }
}
