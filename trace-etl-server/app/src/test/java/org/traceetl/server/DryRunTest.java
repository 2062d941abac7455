package org.traceetl.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.proto.BundleWriter;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.TestRocketMq;

/** What {@code --dry-run} says of a real broker's messages. */
class DryRunTest {
  private static final String TOPIC = "dry";

  @TempDir private static Path home;
  private static TestRocketMq rocketMq;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeAll
  static void start() throws Exception {
    rocketMq = new TestRocketMq(home);
    rocketMq.createTopic(TOPIC, 2);
    BundleWriter bundle = new BundleWriter();
    bundle.begin();
    for (int i = 0; i < 10; i++) {
      bundle.add(message("shop", "GET /users/" + i, "u" + i, i));
    }
    byte[] first = bundle.finish();
    rocketMq.send(TOPIC, 0, first);
    rocketMq.send(TOPIC, 0, Arrays.copyOf(first, first.length - 1));
    for (int i = 10; i < 40; i++) {
      rocketMq.send(TOPIC, i % 2, message("shop", "GET /users/" + i, "u" + i, i));
    }
    rocketMq.send(TOPIC, 0, message("bank\u001b[2J\u202e", "pay", null, 40));
    rocketMq.send(TOPIC, 0, new byte[] {1, 2, 3});
  }

  @AfterAll
  static void stop() {
    rocketMq.close();
  }

  private static byte[] message(String application, String name, String user, long sequence) {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(intern(writer, application));
    writer.startSpan(
        7, sequence, 1, 0, intern(writer, name), 2, 0, 1_700_000_000_000_000_000L, 1, 0);
    if (user != null) {
      writer.attribute(intern(writer, "user"), intern(writer, user));
    }
    writer.endSpan();
    if (name.equals("pay")) {
      for (int i = 0; i < 3; i++) {
        writer.startGroupedSpan(intern(writer, name), 2, 0, i, 0);
        writer.endSpan();
      }
    }
    return Arrays.copyOf(writer.buffer(), writer.finish(1, 0, 1, sequence));
  }

  private static int intern(SpanBatchWriter writer, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  private int run(String... arguments) {
    return runOn(TOPIC, rocketMq.namesrvAddress(), arguments);
  }

  private int runOn(String topic, String nameServer, String... arguments) {
    String[] all =
        Stream.concat(
                Stream.of(
                    "--dry-run",
                    "--trace-etl.rocketmq.topic=" + topic,
                    "--trace-etl.rocketmq.name-server=" + nameServer),
                Arrays.stream(arguments))
            .toArray(String[]::new);
    return TraceEtlServer.run(new PrintWriter(out, true), new PrintWriter(err, true), all);
  }

  /** The line of an application, without the blanks that make columns. */
  private List<String> line(String application) {
    return out.toString()
        .lines()
        .filter(line -> line.startsWith(application + " "))
        .map(line -> line.substring(application.length()).strip().replaceAll(" +", " "))
        .toList();
  }

  @Test
  void seriesAreCountedWithAndWithoutTheDimensions() throws Exception {
    int code =
        run(
            "--trace-etl.series.dimensions[0].attribute=user",
            "--trace-etl.series.max-per-application=10");

    assertThat(code).isZero();
    assertThat(out.toString())
        .startsWith("43 messages (2 refused), 44 spans (0 filtered), 2 applications\n")
        .endsWith("max-per-application = 10, the limit on one queue: 1\n");
    assertThat(line("shop")).containsExactly("40 1 1 40 40 (1)");
    assertThat(line("bank?[2J?")).containsExactly("4 1 1 1 0 (1)");
    assertThat(line("all")).containsExactly("44 2 2 41 40 (2)");
    assertThat(mark()).isEqualTo(JournalLog.NONE);
  }

  private static long mark() throws Exception {
    RocketMqConfig defaults = ServerConfig.defaults().rocketmq();
    RocketMqConfig config =
        new RocketMqConfig(rocketMq.namesrvAddress(), TOPIC, null, null, null, null);
    try (RocketMqLogs logs =
        new RocketMqLogs(config, TOPIC, Duration.ofSeconds(10), Clocks.SYSTEM)) {
      logs.start();
      QueueId queue = logs.queues().iterator().next();
      return logs.open(queue).mark(defaults.consumerGroup());
    }
  }

  @Test
  void filtersAndTemplatesAreThoseOfTheConfiguration() {
    run(
        "--trace-etl.series.templates.enabled=false",
        "--trace-etl.series.filters[0].span-name=pay");

    assertThat(line("shop")).containsExactly("40 40 40 40");
    assertThat(out.toString()).contains("44 spans (4 filtered)");
  }

  @Test
  void inProfileOzheraSpansOfNoTypeAreFiltered() {
    assertThat(run("--trace-etl.metrics.profile=ozhera", "--trace-etl.ozhera.scrapers=prometheus"))
        .isZero();
    assertThat(out.toString()).contains("44 spans (44 filtered)");
  }

  @Test
  void asManyMessagesAreReadAsWanted() {
    assertThat(run("--messages=10", "--since=1h")).isZero();
    assertThat(out.toString()).startsWith("10 messages ");
    out.getBuffer().setLength(0);
    assertThat(run("--messages=9")).isZero();
    assertThat(out.toString()).startsWith("9 messages ");
  }

  @Test
  void whatCannotBeIsSaidInALine() {
    assertThat(run("--since=soon")).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("Invalid value for option '--since': 'soon' is not a number");
    assertThat(run("--messages=0")).isEqualTo(2);
    assertThat(run("--trace-etl.series.max=0")).isEqualTo(2);
    err.getBuffer().setLength(0);
    assertThat(runOn("absent", rocketMq.namesrvAddress())).isEqualTo(1);
    assertThat(err.toString())
        .isEqualToIgnoringNewLines(
            "Topic absent is not known to name server " + rocketMq.namesrvAddress());
    err.getBuffer().setLength(0);
    assertThat(runOn(TOPIC, "127.0.0.1:1")).isEqualTo(1);
    assertThat(err.toString()).startsWith("Name server 127.0.0.1:1");
    assertThat(
            TraceEtlServer.run(
                new PrintWriter(out), new PrintWriter(err), "--since=10m", "--check-config"))
        .isEqualTo(2);
  }
}
