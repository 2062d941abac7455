package org.traceetl.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.rocketmq.common.message.MessageExt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.BundleWriter;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.log.RocketMqLog;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.Programs;
import org.traceetl.testkit.Prometheus;
import org.traceetl.testkit.TestRocketMq;
import tools.jackson.databind.JsonNode;

/** What {@code backfill} makes of a real broker's messages, in a real Prometheus. */
class BackfillCommandTest {
  private static final String TOPIC = "backfilled";
  private static final int QUEUES = 2;
  private static final long PANE = 15_000;
  private static final String METRIC = "backfill_traces_span_metrics";
  private static final String RULES =
      """
      revision: 7
      applications:
        - application: sh*
          series.dimensions: [{attribute: user}]
          histogram.bounds-millis: [1, 2]
      """;

  @TempDir private static Path home;
  private static TestRocketMq rocketMq;

  /** Begin of the first pane, and end of the last one. */
  private static long sinceMillis;

  private static long untilMillis;

  /** By queue, in order. */
  private static final List<List<Sent>> sent = List.of(new ArrayList<>(), new ArrayList<>());

  private static long sequence;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private String topic = TOPIC;
  private Clocks clocks = Clocks.SYSTEM;

  @TempDir private Path directory;

  /**
   * What a message should count.
   *
   * @param spans of the application; 0 if it counts none
   */
  private record Sent(long ageMillis, String user, long spans) {}

  @BeforeAll
  static void start() throws Exception {
    rocketMq = new TestRocketMq(home);
    rocketMq.createTopic(TOPIC, QUEUES);
    untilMillis = Math.floorDiv(System.currentTimeMillis() - 180_000, PANE) * PANE;
    sinceMillis = untilMillis - 4 * 3_600_000L;
    // Over three and a half hours, so there are two or three files.
    for (int i = 0; i < 200; i++) {
      boolean isShop = i % 5 != 4;
      String user = i % 7 == 6 ? null : "u" + i % 3;
      byte[] batch = batch(isShop ? "shop" : "bank", user, 1 + i % 4);
      long ageMillis = 12_900_000L - i * 60_000L;
      send(i % QUEUES, ageMillis, batch, user, isShop ? 1 + i % 4 : 0);
      if (i % 50 == 0) {
        send(i % QUEUES, 1_000_000, batch, user, 0);
      }
    }
    BundleWriter bundle = new BundleWriter();
    bundle.begin();
    bundle.add(batch("bank", "u1", 5));
    bundle.add(batch("shop", "bundled", 6));
    send(0, 600_000, bundle.finish(), "bundled", 6);
    send(1, 600_000, new byte[] {1, 2}, null, 0);
    // Outside the range, at both ends.
    send(0, 5 * 3_600_000L, batch("shop", "u1", 7), "u1", 0);
    send(1, 0, batch("shop", "u1", 8), "u1", 0);
  }

  @AfterAll
  static void stop() {
    rocketMq.close();
  }

  private static void send(int queue, long ageMillis, byte[] message, String user, long spans)
      throws Exception {
    rocketMq.send(TOPIC, queue, message, Map.of(BatchAges.PROPERTY, Long.toString(ageMillis)));
    sent.get(queue).add(new Sent(ageMillis, user, spans));
  }

  /** Returns spans of a user; in a group if it is null. */
  private static byte[] batch(String application, String user, int spans) {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(intern(writer, application));
    if (user == null) {
      writer.demand(7);
    }
    for (int i = 0; i < spans; i++) {
      if (user == null) {
        writer.startGroupedSpan(intern(writer, "GET /"), 2, 0, 1_500_000, 0);
      } else {
        writer.startSpan(7, sequence, i, 0, intern(writer, "GET /"), 2, 0, 1_000, 1_500_000, 0);
        writer.attribute(intern(writer, "user"), intern(writer, user));
      }
      writer.endSpan();
    }
    int length = writer.finish(1, 0, 1, sequence++);
    return Arrays.copyOf(writer.buffer(), length);
  }

  private static int intern(SpanBatchWriter writer, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  /** Returns the spans by user, then by end of the pane, from the store times of the broker. */
  private static Map<String, Map<Long, Long>> expected() throws Exception {
    Map<String, Map<Long, Long>> spans = new TreeMap<>();
    try (RocketMqLogs logs = logs()) {
      logs.start();
      for (int queue = 0; queue < QUEUES; queue++) {
        RocketMqLog log = logs.open(TOPIC, new QueueId(TestRocketMq.BROKER, queue));
        List<Sent> ofQueue = sent.get(queue);
        long next = 0;
        while (next < ofQueue.size()) {
          for (MessageExt message : log.messages(next)) {
            Sent of = ofQueue.get((int) next++);
            long dateMillis = message.getStoreTimestamp() - of.ageMillis;
            if (of.spans > 0) {
              spans
                  .computeIfAbsent(
                      of.user == null ? "__not_sent__" : of.user, user -> new TreeMap<>())
                  .merge(Math.floorDiv(dateMillis, PANE) * PANE + PANE, of.spans, Long::sum);
            }
          }
        }
        assertThat(log.mark(config().consumerGroup())).isEqualTo(JournalLog.NONE);
      }
    }
    return spans;
  }

  private static RocketMqConfig config() {
    return new RocketMqConfig(rocketMq.namesrvAddress(), TOPIC, null, null, null, null);
  }

  private static RocketMqLogs logs() {
    return new RocketMqLogs(config(), TOPIC, Duration.ofSeconds(10), Clocks.SYSTEM);
  }

  private int run(Path output, String... more) throws Exception {
    Path file = directory.resolve("rules.yaml");
    if (!Files.exists(file)) {
      Files.writeString(file, RULES);
    }
    return execute(
        Stream.concat(
                Stream.of(
                    "backfill",
                    "--trace-etl.rocketmq.topic=" + topic,
                    "--trace-etl.rocketmq.name-server=" + rocketMq.namesrvAddress(),
                    "--rules=" + file,
                    "--output=" + output),
                Arrays.stream(more))
            .toArray(String[]::new));
  }

  private int backfill(Path output, String... more) throws Exception {
    return run(
        output,
        Stream.concat(
                Stream.of(
                    "--application=shop",
                    "--since=" + Instant.ofEpochMilli(sinceMillis),
                    "--until=" + Instant.ofEpochMilli(untilMillis),
                    // So that series end and begin again.
                    "--trace-etl.window.idle=5m"),
                Arrays.stream(more))
            .toArray(String[]::new));
  }

  private int execute(String... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return TraceEtlServer.run(
        clocks, new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }

  private static List<Path> files(Path output) throws IOException {
    try (Stream<Path> files = Files.list(output)) {
      return files.filter(file -> file.toString().endsWith(".om")).sorted().toList();
    }
  }

  private static void assertEqualFiles(Path output, Path other) throws IOException {
    assertThat(files(output)).hasSameSizeAs(files(other)).hasSizeGreaterThan(1);
    for (Path file : files(output)) {
      assertThat(other.resolve(file.getFileName())).hasSameBinaryContentAs(file);
    }
  }

  /**
   * Returns the increases by user, then by end of the pane. Each series begins with the value 0,
   * and may begin again.
   */
  private static Map<String, Map<Long, Double>> increases(Prometheus prometheus, String selector)
      throws Exception {
    String path =
        "/api/v1/query?time=%d&query=%s"
            .formatted(untilMillis / 1_000, Prometheus.encode(selector + "[5h]"));
    Map<String, Map<Long, Double>> increases = new TreeMap<>();
    for (JsonNode series : prometheus.data(path).path("result")) {
      assertThat(Prometheus.number(series.path("values").get(0))).isZero();
      Map<Long, Double> ofSeries = new TreeMap<>();
      double before = 0;
      for (JsonNode sample : series.path("values")) {
        double value = Prometheus.number(sample);
        if (value > before) {
          ofSeries.put(Math.round(sample.get(0).asDouble() * 1_000), value - before);
        }
        before = value;
      }
      increases.put(Prometheus.labels(series).get("user"), ofSeries);
    }
    return increases;
  }

  private static Map<String, Map<Long, Double>> times(
      double factor, Map<String, Map<Long, Long>> spans) {
    Map<String, Map<Long, Double>> products = new TreeMap<>();
    spans.forEach((user, ofUser) ->
        ofUser.forEach((end, more) ->
            products.computeIfAbsent(user, absent -> new TreeMap<>()).put(end, factor * more)));
    return products;
  }

  @Test
  void increasesOfEachPaneAreTheSpansSent() throws Exception {
    Path first = directory.resolve("first");
    assertThat(backfill(first)).as(err.toString()).isZero();

    Map<String, Map<Long, Long>> expected = expected();
    long all =
        expected.values().stream().flatMap(of -> of.values().stream()).mapToLong(n -> n).sum();
    long notSent = expected.get("__not_sent__").values().stream().mapToLong(n -> n).sum();
    assertThat(out.toString().lines().map(String::strip))
        .contains(
            "shop: "
                + Instant.ofEpochMilli(sinceMillis)
                + " to "
                + Instant.ofEpochMilli(untilMillis)
                + ", panes of 15000 ms, 2 queues of "
                + TestRocketMq.BROKER,
            "0 of them in overflow series, because limits were reached")
        .anySatisfy(line -> assertThat(line).startsWith("counted  " + all + " spans in "))
        .anySatisfy(line -> assertThat(line).startsWith(notSent + " of them with the value __not"))
        .anySatisfy(line ->
            assertThat(line)
                .matches(
                    "read     208 messages, 0\\.0 MB; 4 repeated batches, 1 refused: 1 \\w+;"
                        + " the first is message \\d+ of queue \\S+/1"));

    Path second = directory.resolve("second");
    assertThat(backfill(second)).isZero();
    assertEqualFiles(first, second);

    // As if killed while it wrote the second file.
    Path resumed = Files.createDirectory(directory.resolve("resumed"));
    Path oldest = files(first).getFirst();
    Files.copy(first.resolve("plan.json"), resumed.resolve("plan.json"));
    Files.copy(oldest, resumed.resolve(oldest.getFileName()));
    Files.writeString(resumed.resolve(files(first).get(1).getFileName() + ".tmp"), "unfinished");
    assertThat(backfill(resumed)).isZero();
    assertEqualFiles(first, resumed);

    Path data = Files.createDirectories(directory.resolve("prometheus/data"));
    for (Path file : files(first)) {
      Programs.Result imported =
          Programs.run(
              List.of(
                  Programs.require("promtool"),
                  "tsdb",
                  "create-blocks-from",
                  "openmetrics",
                  file.toString(),
                  data.toString()),
              new byte[0]);
      assertThat(imported.exitCode()).as(imported.output()).isZero();
    }
    try (Prometheus prometheus =
        Prometheus.start(directory.resolve("prometheus"), "exemplar-storage", "global: {}\n")) {
      assertThat(increases(prometheus, METRIC + "_calls_total")).isEqualTo(times(1, expected));
      String duration = METRIC + "_duration_milliseconds";
      assertThat(increases(prometheus, duration + "_count")).isEqualTo(times(1, expected));
      assertThat(increases(prometheus, duration + "_bucket{le=\"2.0\"}"))
          .isEqualTo(times(1, expected));
      assertThat(increases(prometheus, duration + "_bucket{le=\"1.0\"}").values())
          .hasSize(5)
          .containsOnly(Map.of());
      assertThat(increases(prometheus, duration + "_sum")).isEqualTo(times(1.5, expected));
    }
  }

  @Test
  void aDirectoryHasOnePlan() throws Exception {
    Path output = directory.resolve("output");
    assertThat(run(output, "--application=shop", "--since=4h")).isZero();
    List<Path> before = files(output);
    // Its begin is in the plan.
    assertThat(run(output, "--application=shop", "--since=4h")).isZero();
    assertThat(files(output)).isEqualTo(before);

    assertThat(run(output, "--application=shop", "--since=3h")).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("--output = " + output + ": has the plan of another backfill, of application")
        .contains(" shop since 4h; ");
    assertThat(run(output, "--application=bank", "--since=4h")).isEqualTo(2);
    assertThat(run(output, "--application=shop", "--since=4h", "--prefix=bf_")).isEqualTo(2);
    Files.writeString(directory.resolve("rules.yaml"), RULES.replace("[1, 2]", "[1, 3]"));
    assertThat(run(output, "--application=shop", "--since=4h")).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void whatCannotBeBackfilledIsSaid() throws Exception {
    rocketMq.createTopic("trace-routing", 1);
    Path output = directory.resolve("output");
    assertThat(run(output, "--application=absent", "--since=1h")).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("Application absent has no spans from 20")
        .contains(" messages");
    Path other = directory.resolve("other");
    Path switched = directory.resolve("switch");
    assertThat(run(switched, "--application=shop", "--since=1h", "--until=switch")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--until = switch: needs live series with the buckets");
    Files.writeString(directory.resolve("rules.yaml"), RULES.replaceFirst(" +histogram.*\n", ""));
    assertThat(run(switched, "--application=shop", "--since=1h", "--until=switch")).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("--rules = revision 7: is not in force: servers follow no rules");
    clocks = SkippedPauses.clocks(nanos -> {});
    String unknown = "--trace-etl.hotspots.topic=unknown";
    assertThat(run(switched, "--application=shop", "--since=1h", "--until=switch", unknown))
        .isEqualTo(1);
    assertThat(err.toString())
        .startsWith("Topic unknown, which has the rules of servers, is not known to name server")
        .contains("; trying again for up to ");
    assertThat(
            run(other, "--application=shop", "--since=1h", "--remote-write=file:///api/v1/write"))
        .isEqualTo(2);
    assertThat(err.toString()).contains("must be http://host:port/path");
    topic = "none";
    assertThat(run(other, "--application=shop", "--since=1h")).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("Topic none is not known to name server")
        .contains("; trying again for up to ");
    assertThat(run(other, "--application=shop", "--since=1h", "--until=1m")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--until = 1m: must be at least trace-etl.window.grace");
    assertThat(run(other, "--application=shop", "--since=1m")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--since = 1m: must be at least one pane before 20");
    assertThat(run(other, "--application=shop", "--since=soon")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--since = soon: must be a time in UTC, such as 20");
    String never = "+999999999-01-01T00:00:00Z";
    assertThat(run(other, "--application=shop", "--since=" + never)).isEqualTo(2);
    assertThat(err.toString()).startsWith("--since = " + never + ": must be after 1970");
    assertThat(run(other, "--application=shop", "--since=1h", "--rate=0MB/s")).isEqualTo(2);
    assertThat(run(other, "--application=shop", "--since=1h", "--prefix=")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--prefix = : must be the begin of a metric name");
    assertThat(run(other, "--application=shop", "--since=1h", "--unknown")).isEqualTo(2);
    assertThat(run(directory, "--application=shop", "--since=1h")).isEqualTo(2);
    assertThat(err.toString()).contains(": must be empty, or have the plan");
    assertThat(
            run(
                other,
                "--application=shop",
                "--since=1h",
                "--trace-etl.metrics.profile=ozhera",
                "--trace-etl.ozhera.scrapers=prometheus"))
        .isEqualTo(2);
    assertThat(err.toString())
        .startsWith("trace-etl.metrics.profile = ozhera: must be otel or tempo");
    assertThat(execute("--trace-etl.series.max=1", "backfill", "--application=a")).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
    assertThat(execute("backfill", "--help")).isZero();
    assertThat(out.toString()).contains("--output=DIR", "--config=FILE", "Exit codes: 0 all files");
  }
}
