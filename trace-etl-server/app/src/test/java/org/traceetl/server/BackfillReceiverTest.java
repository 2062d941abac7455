package org.traceetl.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.testkit.Prometheus;
import org.traceetl.testkit.TestRocketMq;
import tools.jackson.databind.JsonNode;

/** Samples that {@code backfill} sends to a real Prometheus. */
class BackfillReceiverTest {
  private static final String TOPIC = "backfilled";
  private static final long OLD_MILLIS = 3 * 3_600_000L;
  private static final long RECENT_MILLIS = 600_000;
  private static final int SPANS = 5;
  private static final long NANOS = 1_500_000;
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final String DURATION = "traces_span_metrics_duration_milliseconds";

  @TempDir private static Path home;
  private static TestRocketMq rocketMq;

  /** When the spans were sent, milliseconds since 1970. */
  private static long sentMillis;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  @BeforeAll
  static void start() throws Exception {
    rocketMq = new TestRocketMq(home);
    rocketMq.createTopic(TOPIC, 1);
    sentMillis = System.currentTimeMillis();
    send(OLD_MILLIS, 0);
    send(RECENT_MILLIS, 1);
  }

  @AfterAll
  static void stop() {
    rocketMq.close();
  }

  private static void send(long ageMillis, long sequence) throws Exception {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(intern(writer, "shop"));
    for (int i = 0; i < SPANS; i++) {
      writer.startSpan(7, sequence, i + 1, 0, intern(writer, "GET /"), 2, 0, 1_000, NANOS, 0);
      writer.endSpan();
    }
    byte[] batch = Arrays.copyOf(writer.buffer(), writer.finish(1, 0, 1, sequence));
    rocketMq.send(TOPIC, 0, batch, Map.of(BatchAges.PROPERTY, Long.toString(ageMillis)));
  }

  private static int intern(SpanBatchWriter writer, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  private static Prometheus receiver(Path directory, String yaml) throws Exception {
    return Prometheus.start(
        directory, "native-histograms", yaml, "--web.enable-remote-write-receiver");
  }

  private int backfill(String rules, String... more) throws Exception {
    Path file = Files.writeString(directory.resolve("rules.yaml"), "revision: 7\n" + rules);
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return TraceEtlServer.run(
        new PrintWriter(out, true),
        new PrintWriter(err, true),
        Stream.concat(
                Stream.of(
                    "backfill",
                    "--trace-etl.rocketmq.topic=" + TOPIC,
                    "--trace-etl.rocketmq.name-server=" + rocketMq.namesrvAddress(),
                    "--application=shop",
                    "--rules=" + file),
                Arrays.stream(more))
            .toArray(String[]::new));
  }

  private String output(String name) {
    return "--output=" + directory.resolve(name);
  }

  private static String to(Prometheus receiver) {
    return "--remote-write=" + receiver.writeUri();
  }

  /** Returns the sum of a query's results some time after spans of an age; -1 without a result. */
  private static double query(Prometheus prometheus, long ageMillis, String query)
      throws Exception {
    String path =
        "/api/v1/query?time=%d&query=%s"
            .formatted((sentMillis - ageMillis) / 1_000 + 120, Prometheus.encode(query));
    JsonNode result = prometheus.data(path).path("result");
    double sum = result.isEmpty() ? -1 : 0;
    for (JsonNode series : result) {
      sum += Prometheus.number(series.path("value"));
    }
    return sum;
  }

  @Test
  void refusedSamplesFailTheCommandUntilTheReceiverHasThem() throws Exception {
    Path prometheus = directory.resolve("prometheus");
    String[] old = {"--since=4h", "--until=2h", "--prefix=old_", output("old")};
    try (Prometheus refusing = receiver(prometheus, "global: {}\n")) {
      // After these, it takes no samples of hours ago.
      assertThat(backfill("", "--since=20m", output("recent"), to(refusing)))
          .as(err.toString())
          .isZero();
      assertThat(query(refusing, RECENT_MILLIS, "backfill_" + CALLS)).isEqualTo(SPANS);

      assertThat(
              backfill(
                  "",
                  Stream.concat(Arrays.stream(old), Stream.of(to(refusing)))
                      .toArray(String[]::new)))
          .isEqualTo(1);
      assertThat(out.toString())
          .contains("sent     0 samples", "more were refused: out_of_bounds; set storage.tsdb.out");
      assertThat(query(refusing, OLD_MILLIS, "old_" + CALLS)).isEqualTo(-1);
    }
    String window = "storage: {tsdb: {out_of_order_time_window: 6h}}\n";
    try (Prometheus taking = receiver(prometheus, window)) {
      assertThat(
              backfill(
                  "",
                  Stream.concat(Arrays.stream(old), Stream.of(to(taking))).toArray(String[]::new)))
          .as(out.toString())
          .isZero();
      assertThat(out.toString()).doesNotContain("more were refused");
      assertThat(query(taking, OLD_MILLIS, "old_" + CALLS)).isEqualTo(SPANS);
    }
  }

  @Test
  void nativeBucketsGoToTheReceiverAlone() throws Exception {
    String kind = "defaults: {histogram: {kind: %s}}\n";
    String metric = "backfill_" + DURATION;
    String count = "histogram_count(" + metric + ")";
    String longest = "histogram_quantile(1, " + metric + ")";
    assertThat(backfill(kind.formatted("native"), "--since=4h", output("files"))).isEqualTo(2);
    assertThat(err.toString()).startsWith("histogram.kind = native: needs --remote-write, because");
    assertThat(directory.resolve("files")).doesNotExist();

    try (Prometheus prometheus = receiver(directory.resolve("of-both"), "global: {}\n")) {
      assertThat(backfill(kind.formatted("both"), "--since=4h", output("both"), to(prometheus)))
          .as(err.toString())
          .isZero();
      for (long age : new long[] {OLD_MILLIS, RECENT_MILLIS}) {
        assertThat(query(prometheus, age, count)).isEqualTo(SPANS);
        // The bound of a bucket is at most 9 % above its durations.
        assertThat(query(prometheus, age, longest)).isCloseTo(1.5, within(0.135));
        assertThat(query(prometheus, age, metric + "_bucket{le=\"2.0\"}")).isEqualTo(SPANS);
      }
    }
    try (Prometheus prometheus = receiver(directory.resolve("of-native"), "global: {}\n")) {
      assertThat(backfill(kind.formatted("native"), "--since=4h", output("native"), to(prometheus)))
          .as(err.toString())
          .isZero();
      assertThat(query(prometheus, RECENT_MILLIS, count)).isEqualTo(SPANS);
      assertThat(query(prometheus, RECENT_MILLIS, metric + "_bucket")).isEqualTo(-1);
    }
  }
}
