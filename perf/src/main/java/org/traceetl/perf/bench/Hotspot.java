package org.traceetl.perf.bench;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.traceetl.perf.load.ExportLoad;
import org.traceetl.perf.load.GrpcSender;
import org.traceetl.perf.load.OtlpSender;
import org.traceetl.perf.load.RenumberedExport;
import org.traceetl.perf.process.Ports;
import org.traceetl.perf.report.Results;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/**
 * One application has nine tenths of all spans: how evenly real servers are loaded before and after
 * its hotspot is decided on, by the spans that each has recorded, and whether every span counts
 * once all the same. Hotspots are switched on under the load, by making the topic of the decisions.
 */
@Command(
    name = "hotspot",
    description = {
      "Measures how evenly servers share a load of which one application has nine tenths, before and"
          + " after automatic hotspots are switched on.",
      ""
    })
public final class Hotspot implements Callable<Integer> {
  private static final String HOT = "hot";

  /** One request in so many is not of the hot application. */
  private static final int OTHERS_EVERY = 10;

  /** Few, so that every queue has spans at every look: one that has none makes a look void. */
  private static final int SPANS_PER_REQUEST = 50;

  private static final int OTHERS_OPERATIONS = 50;
  private static final int LETTERS = 26;
  private static final String RECORDED = "trace_etl_spans_recorded_total";
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final Duration WARM_UP = Duration.ofSeconds(8);
  private static final Duration LOOK = Duration.ofMillis(500);
  private static final Duration SETTLED = Duration.ofSeconds(8);
  private static final Duration SETTLE_LIMIT = Duration.ofSeconds(120);
  private static final Duration DRAIN_LIMIT = Duration.ofSeconds(60);

  @Mixin private Results results;
  @Mixin private Installed installed;
  @Mixin private RunFolder folder;

  @Option(names = "--servers", description = "That share the queues (default: ${DEFAULT-VALUE}).")
  private int servers = 3;

  @Option(names = "--rate", description = "Spans a second (default: ${DEFAULT-VALUE}).")
  private int rate = 20_000;

  @Option(
      names = "--applications",
      description = "The hot one among them (default: ${DEFAULT-VALUE}).")
  private int applications = 30;

  @Option(
      names = "--operations",
      description = "Of the hot application, equally frequent (default: ${DEFAULT-VALUE}).")
  private int operations = 1_000;

  @Option(
      names = "--seconds",
      description = "Of each of the two measurements (default: ${DEFAULT-VALUE}).")
  private int seconds = 15;

  @Option(names = "--help", usageHelp = true, description = "Show this.")
  private boolean help;

  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicBoolean enough = new AtomicBoolean();

  public static void main(String... arguments) {
    System.exit(
        new CommandLine(new Hotspot())
            .setDefaultValueProvider(option ->
                option instanceof CommandLine.Model.OptionSpec named
                        && named.longestName().equals("--queues")
                    ? "24"
                    : null)
            .execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    results.columns("phase", "server", "spans_per_second", "share");
    Map<String, Object> summary = new LinkedHashMap<>();
    boolean done = folder.run("hotspot", data -> run(data, summary));
    results.summary("hotspot", summary);
    return done ? 0 : 1;
  }

  /** Whether every span was counted once. */
  private boolean run(Path data, Map<String, Object> summary) throws Exception {
    try (Fleet fleet = new Fleet(data, new Ports(), installed, servers, http);
        ExecutorService sending = Executors.newSingleThreadExecutor()) {
      fleet.start();
      return measure(fleet, sending, summary);
    } finally {
      enough.set(true);
      http.shutdownNow();
    }
  }

  private boolean measure(Fleet fleet, ExecutorService sending, Map<String, Object> summary)
      throws Exception {
    Future<Long> load = sending.submit(() -> load(fleet.otlpPort()));
    try {
      TimeUnit.NANOSECONDS.sleep(WARM_UP.toNanos());
      double before = maxToMean(fleet, "before");
      long startNanos = System.nanoTime();
      fleet.letHotspotsMove();
      settle(fleet, load);
      long settledNanos = System.nanoTime() - startNanos - SETTLED.toNanos();
      summary.put("servers", servers);
      summary.put("queues", installed.queues());
      summary.put("before", before);
      summary.put("after", maxToMean(fleet, "after"));
      JsonNode decided = fleet.hotspots();
      if (decided == null) {
        throw new IllegalStateException("no server decides about hotspots any more");
      }
      summary.put("hot_queues", hot(decided, "queues"));
      summary.put("hot_used_queues", hot(decided, "usedQueues"));
      summary.put("queue_max_to_mean", decided.path("maxToMean").asDouble());
      summary.put("settled_seconds", TimeUnit.NANOSECONDS.toSeconds(settledNanos));
      System.out.println("# " + decided);
    } finally {
      enough.set(true);
    }
    long sent = load.get();
    long counted = counted(fleet, sent);
    summary.put("sent", sent);
    summary.put("lost", Math.max(0, sent - counted));
    summary.put("doubled", Math.max(0, counted - sent));
    return counted == sent;
  }

  /** Sends until it is enough, and says how many spans were taken. */
  private long load(int otlpPort) throws InterruptedException {
    ExportLoad load = new ExportLoad(requests(), Driver.UNANSWERED);
    long spans = 0;
    try (OtlpSender sender = new GrpcSender(otlpPort, 2)) {
      while (!enough.get()) {
        ExportLoad.Sent sent = load.send(sender, TimeUnit.SECONDS.toNanos(2), rate);
        if (sent.refused() > 0) {
          throw new IllegalStateException("the agent did not take spans: " + sent.refusal());
        }
        spans += sent.spans();
      }
    }
    return spans;
  }

  private List<RenumberedExport> requests() {
    SplittableRandom random = new SplittableRandom(7);
    List<RenumberedExport> requests = new ArrayList<>();
    int hotSpans = 0;
    for (int i = 0; i < (applications - 1) * OTHERS_EVERY; i++) {
      if (i % OTHERS_EVERY == 0) {
        requests.add(request("other-" + name(i / OTHERS_EVERY), 0, OTHERS_OPERATIONS, random));
      } else {
        requests.add(request(HOT, hotSpans, operations, random));
        hotSpans += SPANS_PER_REQUEST;
      }
    }
    return requests;
  }

  private static RenumberedExport request(
      String application, int first, int operations, SplittableRandom random) {
    ScopeSpans.Builder scope = ScopeSpans.newBuilder();
    long endNanos = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
    for (int i = first; i < first + SPANS_PER_REQUEST; i++) {
      scope.addSpans(
          Span.newBuilder()
              .setTraceId(id(random.nextLong(), random.nextLong() | 1))
              .setSpanId(id(random.nextLong() | 1))
              // One token: of two, the servers would learn that the second varies, and join them.
              .setName("operation" + name(i % operations))
              .setKind(Span.SpanKind.SPAN_KIND_SERVER)
              .setStatus(Status.newBuilder().setCode(Status.StatusCode.STATUS_CODE_OK))
              .setStartTimeUnixNano(endNanos - random.nextLong(100_000_000))
              .setEndTimeUnixNano(endNanos));
    }
    Resource resource =
        Resource.newBuilder()
            .addAttributes(
                KeyValue.newBuilder()
                    .setKey("service.name")
                    .setValue(AnyValue.newBuilder().setStringValue(application)))
            .build();
    return new RenumberedExport(
        ExportTraceServiceRequest.newBuilder()
            .addResourceSpans(ResourceSpans.newBuilder().setResource(resource).addScopeSpans(scope))
            .build()
            .toByteArray());
  }

  /** Letters alone: servers take numbers in span names for identifiers. */
  private static String name(int number) {
    return number < LETTERS
        ? String.valueOf((char) ('a' + number))
        : name(number / LETTERS - 1) + (char) ('a' + number % LETTERS);
  }

  private static ByteString id(long... parts) {
    ByteBuffer bytes = ByteBuffer.allocate(parts.length * Long.BYTES);
    for (long part : parts) {
      bytes.putLong(part);
    }
    return ByteString.copyFrom(bytes.flip());
  }

  /** Waits until the hot application has all queues, and the agent has followed for a while. */
  private void settle(Fleet fleet, Future<Long> load) throws Exception {
    long startNanos = System.nanoTime();
    long epoch = 0;
    while (System.nanoTime() - startNanos < SETTLE_LIMIT.toNanos()) {
      TimeUnit.NANOSECONDS.sleep(LOOK.toNanos());
      if (load.isDone()) {
        throw new IllegalStateException("the load ended early with " + load.get() + " spans");
      }
      JsonNode now = fleet.hotspots();
      if (epoch == 0 && now != null && hot(now, "queues") == installed.queues()) {
        epoch = now.path("epoch").asLong();
      }
      if (epoch > 0 && fleet.agentEpoch() >= epoch) {
        TimeUnit.NANOSECONDS.sleep(SETTLED.toNanos());
        return;
      }
    }
    throw new IllegalStateException(
        "the hotspot has not got all queues within " + SETTLE_LIMIT + ": " + fleet.hotspots());
  }

  private static int hot(JsonNode decided, String field) {
    for (JsonNode application : decided.path("applications")) {
      if (application.path("application").asString("").equals(HOT)) {
        return application.path(field).asInt();
      }
    }
    return 0;
  }

  /** The heaviest server by the mean, of spans recorded a second. */
  private double maxToMean(Fleet fleet, String phase) throws Exception {
    // Counts are there once a window: in the middle between two, each server has had as many.
    long windowMillis = Fleet.WINDOW.toMillis();
    long intoWindow = System.currentTimeMillis() % windowMillis;
    TimeUnit.MILLISECONDS.sleep(windowMillis * 3 / 2 - intoWindow);
    double[] from = fleet.sums(RECORDED);
    TimeUnit.SECONDS.sleep(seconds);
    double[] rates = fleet.sums(RECORDED);
    for (int i = 0; i < rates.length; i++) {
      rates[i] = (rates[i] - from[i]) / seconds;
    }
    double all = Arrays.stream(rates).sum();
    for (int i = 0; i < rates.length; i++) {
      results.row(phase, i + 1, rates[i], rates[i] / all);
    }
    return Arrays.stream(rates).max().orElse(0) * rates.length / all;
  }

  /** Spans on all pages, once they are as many as were sent or do not change any more. */
  private static long counted(Fleet fleet, long sent) throws Exception {
    long startNanos = System.nanoTime();
    long counted = 0;
    while (counted != sent && System.nanoTime() - startNanos < DRAIN_LIMIT.toNanos()) {
      TimeUnit.NANOSECONDS.sleep(LOOK.toNanos());
      counted = (long) Arrays.stream(fleet.sums(CALLS)).sum();
    }
    // What comes late and double would come with the next windows.
    TimeUnit.NANOSECONDS.sleep(Fleet.WINDOW.multipliedBy(3).toNanos());
    return (long) Arrays.stream(fleet.sums(CALLS)).sum();
  }
}
