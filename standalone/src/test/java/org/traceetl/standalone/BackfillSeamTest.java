package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.standalone.EndToEndTest.eventually;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.Programs;
import org.traceetl.testkit.Prometheus;
import tools.jackson.databind.JsonNode;

/**
 * A dimension and a measure are added while spans arrive, and their past is backfilled until the
 * switch. In a real Prometheus, the series with the dimension and those of the measure have the
 * spans of each pane once: backfilled, live, and after a server was killed amid the switch and the
 * backfill while it ran.
 */
final class BackfillSeamTest {
  private static final int QUEUES = 2;
  private static final long PANE_MILLIS = 1_000;
  private static final int PANES_AFTER = 15;
  private static final String APPLICATION = "shop";
  private static final AttributeKey<String> TIER = AttributeKey.stringKey("customer.tier");
  private static final List<String> TIERS = List.of("gold", "silver", "");

  /** Without digits, which would be replaced; enough for series on both queues. */
  private static final List<String> NAMES =
      List.of("/cart", "/find", "/help", "/home", "/item", "/list", "/pay", "/ship");

  private static final String PREFIX = "backfill_";
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final List<String> FAMILIES =
      List.of(
          CALLS,
          "traces_span_metrics_duration_milliseconds_count",
          "traces_span_metrics_duration_milliseconds_sum",
          "traces_span_metrics_duration_milliseconds_bucket{le=\"10.0\"}",
          "traces_span_metrics_duration_milliseconds_bucket{le=\"+Inf\"}");

  /** Durations of spans with a tier, by tier. */
  private static final String MEASURE = "shop_duration_milliseconds";

  private static final Pattern SEAM = Pattern.compile("seam {5}(\\S+Z): ");

  /** Two calls in each: servers that lag would make the backfill pause. */
  private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

  @TempDir private Path directory;
  private Path rules;

  /** By tier. */
  private final Map<String, Long> sent = new ConcurrentHashMap<>();

  @Test
  void seriesWithADimensionHaveTheSpansOfEachPaneOnce() throws Exception {
    rules = directory.resolve("rules.yaml");
    write(1, "applications: []");
    Instant since = Instant.now().minusSeconds(5);
    Path home = directory.resolve("prometheus");
    try (Prometheus prometheus = receiver(home)) {
      EmbeddedInstallation.Settings settings = settings(prometheus);
      Map<String, Object> further = SharedBroker.furtherServer(settings);
      try (EmbeddedInstallation installation = EmbeddedInstallation.start(settings)) {
        installation.awaitReady(Duration.ofSeconds(60));
        AtomicBoolean enough = new AtomicBoolean();
        Thread load = Thread.ofPlatform().start(() -> load(installation.otlpGrpcPort(), enough));
        try {
          switchWhileAServerIsKilled(installation, further);
          eventually("panes after the switch")
              .untilAsserted(() ->
                  assertThat(panes(prometheus, CALLS + "{customer_tier!=\"\"}"))
                      .hasSizeGreaterThan(PANES_AFTER));
          backfill(since, further, prometheus);
        } finally {
          enough.set(true);
          load.join();
        }
        eventually("all live spans in Prometheus")
            .untilAsserted(
                () -> assertThat(total(panes(prometheus, CALLS))).isEqualTo((double) sum()));
      }
      check(prometheus, PREFIX);
      assertThat(total(panes(prometheus, PREFIX + CALLS))).isPositive();
      copyLiveSeries(prometheus, home);
    }
    try (Prometheus restarted = receiver(home)) {
      check(restarted, PREFIX);
    }
    checkBlocks();
  }

  private EmbeddedInstallation.Settings settings(Prometheus prometheus) throws IOException {
    String topic = SharedBroker.newTopic(QUEUES);
    Map<String, Object> properties = SharedBroker.decidingServer(topic);
    properties.put("trace-etl.window.length", PANE_MILLIS + "ms");
    properties.put("trace-etl.window.grace", "10s");
    properties.put("trace-etl.journal.lease", "2s");
    // So that agents send all spans with their attributes.
    properties.put("trace-etl.documents.slower-than", "1ms");
    properties.put("trace-etl.rules.file", rules.toString());
    properties.put("trace-etl.rules.switch-after", "3s");
    properties.put("trace-etl.push.endpoints[0].url", prometheus.writeUri().toString());
    return SharedBroker.settings(topic, directory.resolve("installation"), properties);
  }

  private static Prometheus receiver(Path home) throws Exception {
    return Prometheus.start(
        home,
        "exemplar-storage",
        "storage: {tsdb: {out_of_order_time_window: 6h}}\n",
        "--web.enable-remote-write-receiver",
        "--web.enable-admin-api");
  }

  /** Writes a file at once. */
  private void write(int revision, String yaml) throws IOException {
    Path next = directory.resolve("next");
    Files.writeString(next, "revision: " + revision + "\n" + yaml + "\n");
    Files.move(next, rules, StandardCopyOption.ATOMIC_MOVE);
  }

  private void load(int port, AtomicBoolean enough) {
    try (OtlpSpans shop = OtlpSpans.overGrpc(APPLICATION, port);
        OtlpSpans bank = OtlpSpans.overGrpc("bank", port)) {
      long nextNanos = System.nanoTime();
      for (int i = 0; !enough.get(); i++) {
        nextNanos = Math.max(nextNanos + ROUND_NANOS, System.nanoTime());
        String tier = TIERS.get(i % TIERS.size());
        Attributes attributes = tier.isEmpty() ? Attributes.empty() : Attributes.of(TIER, tier);
        for (int span = 0; span < 1 + i % 5; span++) {
          long nanos = 5_000_000L + i % 3 * 10_000_000L + span;
          String name = NAMES.get((i + span) % NAMES.size());
          shop.send(name, SpanKind.SERVER, StatusCode.OK, nanos, attributes);
          bank.send(name, SpanKind.SERVER, StatusCode.OK, nanos, attributes);
        }
        shop.flush();
        bank.flush();
        sent.merge(tier, 1L + i % 5, Long::sum);
        LockSupport.parkNanos(nextNanos - System.nanoTime());
      }
    }
  }

  private long sum() {
    return sent.values().stream().mapToLong(Long::longValue).sum();
  }

  private void switchWhileAServerIsKilled(
      EmbeddedInstallation installation, Map<String, Object> further) throws Exception {
    try (ServerProcess killed = ServerProcess.start(directory.resolve("killed"), further)) {
      eventually("a queue of the application on each server")
          .untilAsserted(() -> {
            assertThat(queues(killed.uri("/metrics").getPort(), "")).hasSize(1);
            assertThat(queues(installation.httpPort(), "")).hasSize(1);
          });
      write(
          2,
          """
          applications:
            - application: shop
              series: {dimensions: [{attribute: customer.tier}]}
              measures:
                - name: shop.duration
                  unit: ms
                  requires: [customer.tier]
                  dimensions: [{attribute: customer.tier}]
          """);
      eventually("the switch on the server that is killed")
          .untilAsserted(() ->
              assertThat(queues(killed.uri("/metrics").getPort(), "customer_tier")).isNotEmpty());
      killed.kill();
    }
    eventually("both queues by the new rules on one server")
        .untilAsserted(
            () -> assertThat(queues(installation.httpPort(), "customer_tier")).hasSize(QUEUES));
  }

  /** Returns the queues on a page whose series of the application have a label. */
  private static Set<String> queues(int port, String label) throws Exception {
    Set<String> queues = new TreeSet<>();
    EndToEndTest.samples(port).stream()
        .filter(sample -> sample.name().equals(CALLS))
        .filter(sample -> APPLICATION.equals(sample.labels().get("service_name")))
        .filter(sample -> label.isEmpty() || sample.labels().containsKey(label))
        .forEach(sample -> queues.add(sample.labels().get("trace_etl_queue")));
    return queues;
  }

  /** Backfills, by a process that is killed and one that continues. */
  private void backfill(Instant since, Map<String, Object> properties, Prometheus prometheus)
      throws Exception {
    Map<String, Object> all = new HashMap<>(properties);
    all.put("application", APPLICATION);
    all.put("rules", rules);
    all.put("since", since);
    all.put("until", "switch");
    all.put("output", directory.resolve("output"));
    all.put("remote-write", prometheus.writeUri());
    Path log = directory.resolve("backfill.log");
    all.put("rate", "20kB/s");
    try (ServerProcess slow = ServerProcess.command(log, "backfill", all)) {
      eventually("a backfill that runs")
          .untilAsserted(() -> assertThat(Files.readString(log)).contains(" of at most "));
      slow.kill();
    }
    List<Path> finished = files();
    all.put("rate", "50MB/s");
    try (ServerProcess next = ServerProcess.command(log, "backfill", all)) {
      eventually("the end of the backfill").until(() -> !next.isRunning());
      assertThat(next.exitCode()).as(Files.readString(log)).isZero();
    }
    assertThat(Files.readString(log))
        .contains("Continues the plan")
        .doesNotContain("more were refused", "count twice");
    assertThat(files()).containsAll(finished).hasSizeGreaterThan(finished.size());
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve("output"))) {
      return files.filter(file -> file.toString().endsWith(".om")).sorted().toList();
    }
  }

  private long seamMillis() throws IOException {
    Matcher seam = SEAM.matcher(Files.readString(directory.resolve("backfill.log")));
    assertThat(seam.find()).isTrue();
    return Instant.parse(seam.group(1)).toEpochMilli();
  }

  /** Copies what Prometheus has, as blocks. */
  private void copyLiveSeries(Prometheus prometheus, Path home) throws Exception {
    String name = prometheus.snapshot();
    Files.createDirectories(directory.resolve("blocks"));
    Files.move(home.resolve("data/snapshots").resolve(name), directory.resolve("blocks/data"));
  }

  /** Imports the files under another name, and checks them beside the live series. */
  private void checkBlocks() throws Exception {
    Path home = directory.resolve("blocks");
    for (Path file : files()) {
      String text = Files.readString(file).replace(PREFIX, "blocks_");
      Path renamed = Files.writeString(directory.resolve("blocks.om"), text);
      Programs.Result imported =
          Programs.run(
              List.of(
                  Programs.require("promtool"),
                  "tsdb",
                  "create-blocks-from",
                  "openmetrics",
                  renamed.toString(),
                  home.resolve("data").toString()),
              new byte[0]);
      assertThat(imported.exitCode()).as(imported.output()).isZero();
    }
    for (int starts = 0; starts < 2; starts++) {
      try (Prometheus prometheus = receiver(home)) {
        check(prometheus, "blocks_");
      }
    }
  }

  /** Checks that series with the dimension have the spans of each pane once. */
  private void check(Prometheus prometheus, String prefix) throws Exception {
    int gaps = 0;
    int overlaps = 0;
    int wrong = 0;
    int panes = 0;
    for (String family : FAMILIES) {
      NavigableMap<Long, Double> old = panes(prometheus, family);
      NavigableMap<Long, Double> now = panes(prometheus, prefix + family);
      add(panes(prometheus, with(family, "customer_tier!=\"\"")), now);
      // Series without the label continue; until the seam they have spans with the attribute too.
      add(panes(prometheus, with(family, "customer_tier=\"\"")).tailMap(seamMillis(), false), now);
      TreeSet<Long> ends = new TreeSet<>(old.keySet());
      ends.addAll(now.keySet());
      for (long end : ends) {
        double difference = now.getOrDefault(end, 0.0) - old.getOrDefault(end, 0.0);
        boolean isWrong = Math.abs(difference) > 1e-3;
        wrong += isWrong ? 1 : 0;
        if (family.equals(CALLS)) {
          panes++;
          gaps += isWrong && difference < 0 ? 1 : 0;
          overlaps += isWrong && difference > 0 ? 1 : 0;
        }
      }
    }
    for (String part : List.of("_count", "_sum")) {
      NavigableMap<Long, Double> ofSpans = new TreeMap<>();
      NavigableMap<Long, Double> ofMeasure = panes(prometheus, prefix + MEASURE + part);
      String durations = "traces_span_metrics_duration_milliseconds" + part;
      for (String family : List.of(prefix + durations, durations)) {
        add(panes(prometheus, with(family, "customer_tier!=\"\"")), ofSpans);
      }
      add(panes(prometheus, MEASURE + part), ofMeasure);
      TreeSet<Long> ends = new TreeSet<>(ofSpans.keySet());
      ends.addAll(ofMeasure.keySet());
      for (long end : ends) {
        double difference = ofMeasure.getOrDefault(end, 0.0) - ofSpans.getOrDefault(end, 0.0);
        wrong += Math.abs(difference) > 1e-3 ? 1 : 0;
      }
      assertThat(total(panes(prometheus, prefix + MEASURE + part))).isPositive();
    }
    System.out.printf(
        "%s: gaps=%d overlaps=%d wrong_panes=%d of %d panes, %d spans%n",
        prefix, gaps, overlaps, wrong, panes, sum());
    assertThat(List.of(gaps, overlaps, wrong)).containsOnly(0);
    assertThat(total(panes(prometheus, CALLS))).isEqualTo((double) sum());
    for (String tier : TIERS) {
      if (!tier.isEmpty()) {
        String label = "customer_tier=\"" + tier + "\"";
        double all =
            total(panes(prometheus, with(prefix + CALLS, label)))
                + total(panes(prometheus, with(CALLS, label)));
        assertThat(all).as(tier).isEqualTo(sent.get(tier).doubleValue());
        double measured =
            total(panes(prometheus, with(prefix + MEASURE + "_count", label)))
                + total(panes(prometheus, with(MEASURE + "_count", label)));
        assertThat(measured).as(tier).isEqualTo(sent.get(tier).doubleValue());
      }
    }
  }

  private static String with(String selector, String matcher) {
    return selector.endsWith("}")
        ? selector.substring(0, selector.length() - 1) + "," + matcher + "}"
        : selector + "{" + matcher + "}";
  }

  private static void add(Map<Long, Double> more, Map<Long, Double> to) {
    more.forEach((end, spans) -> to.merge(end, spans, Double::sum));
  }

  private static double total(Map<Long, Double> panes) {
    return panes.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  /** Returns the increases of all series of the application, by the end of the pane. */
  private static NavigableMap<Long, Double> panes(Prometheus prometheus, String selector)
      throws Exception {
    String query = with(selector, "service_name=\"" + APPLICATION + "\"") + "[1h]";
    NavigableMap<Long, Double> panes = new TreeMap<>();
    for (JsonNode series :
        prometheus.data("/api/v1/query?query=" + Prometheus.encode(query)).path("result")) {
      double before = 0;
      for (JsonNode sample : series.path("values")) {
        double value = Prometheus.number(sample);
        long millis = Math.round(sample.get(0).asDouble() * 1_000);
        long end = Math.ceilDiv(millis, PANE_MILLIS) * PANE_MILLIS;
        // All counters begin at 0, and begin again if they fall.
        double increase = value < before ? value : value - before;
        if (increase != 0) {
          panes.merge(end, increase, Double::sum);
        }
        before = value;
      }
    }
    return panes;
  }
}
