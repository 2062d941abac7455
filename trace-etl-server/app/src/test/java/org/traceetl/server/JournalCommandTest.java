package org.traceetl.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.traceetl.testkit.TestRocketMq.BROKER;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.web.WebServer;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.TestRocketMq;

/** What {@code --journal} says and does, on a real broker. */
class JournalCommandTest {
  private static final String SPANS = "spans";
  private static final String JOURNAL = "windows";

  @TempDir private static Path home;
  private static TestRocketMq rocketMq;
  private static Path keys;
  private static Path otherKeys;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private JournalCounters counters;

  @BeforeAll
  static void start() throws Exception {
    rocketMq = new TestRocketMq(home);
    rocketMq.createTopic(SPANS, 4);
    rocketMq.createTopic(JOURNAL, 4);
    keys = keys("blue", 1);
    otherKeys = keys("green", 2);
  }

  private static Path keys(String name, int secret) throws IOException {
    byte[] bytes = new byte[32];
    Arrays.fill(bytes, (byte) secret);
    return Files.writeString(
        home.resolve(name + ".keys"),
        name + " " + Base64.getEncoder().encodeToString(bytes) + " active\n");
  }

  @AfterAll
  static void stop() {
    rocketMq.close();
  }

  private static List<String> arguments(String... more) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "--trace-etl.rocketmq.topic=" + SPANS,
                "--trace-etl.journal.topic=" + JOURNAL,
                "--trace-etl.rocketmq.name-server=" + rocketMq.namesrvAddress()));
    all.addAll(List.of(more));
    return all;
  }

  private static String with(Path file) {
    return "--trace-etl.journal.keys-file=" + file;
  }

  private int run(int queue, String... more) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    List<String> all = arguments(more);
    all.add("--journal=" + BROKER + "/" + queue);
    return TraceEtlServer.run(
        new PrintWriter(out, true), new PrintWriter(err, true), all.toArray(String[]::new));
  }

  /** Takes a queue as a server does, and returns the log's messages. */
  private List<byte[]> take(int queue, String... more) throws Exception {
    ServerConfig config = WebServer.check(arguments(more));
    JournalAccess access = JournalAccess.of(config, ServerPlatform.system(), null);
    counters = access.counters();
    try (BrokerLogs logs = access.logs()) {
      logs.start();
      QueueId id = new QueueId(BROKER, queue);
      access.journals().take(id).journal().release();
      return logs.open(id).read(0).stream().map(entry -> entry.body()).toList();
    }
  }

  /** The message as a server of a later version would have written it. */
  private static byte[] ofLaterVersion(byte[] message) {
    byte[] later = message.clone();
    later[4] = 9;
    CRC32C crc = new CRC32C();
    crc.update(later, 0, 10);
    crc.update(later, 14, later.length - 14);
    ByteBuffer.wrap(later).putInt(10, (int) crc.getValue());
    return later;
  }

  private long rejected(String reason) {
    Map<String, Long> rejections = counters.rejections();
    return rejections.get(reason);
  }

  @Test
  void aMessageThatStopsServersIsShownAndSteppedOver() throws Exception {
    List<byte[]> before = take(0);
    rocketMq.send(JOURNAL, 0, ofLaterVersion(before.getFirst()));
    assertThatThrownBy(() -> take(0)).isInstanceOf(IOException.class);

    assertThat(run(0)).isZero();
    assertThat(out.toString())
        .startsWith("journal of queue embedded/0: offsets 0 to 3\n")
        .contains("offset=0 bytes=78 key=none record=CLAIM chunk=1/1 epoch=")
        .contains("offset=2 bytes=78 key=none rejected=version\n")
        .contains("Servers stop: The record at offset 2 of the journal has version 9");

    assertThat(run(0, "--step-over=1", "--reason=a guess")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--step-over = 1: servers stop at offset 2");
    assertThat(run(0, "--step-over=2")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--reason has 0 characters: must have 1 to 200");
    assertThat(run(0, "--step-over=2", "--reason=sent by a test\u001b[2J")).isZero();
    assertThat(out)
        .hasToString(
            """
            Recorded at offset 3: servers pass over offset 2.
            Servers can read it to its end.
            """);

    assertThat(run(0)).isZero();
    assertThat(out.toString()).contains("reason=\"sent by a test?[2J\"");
    take(0);
    assertThat(rejected("stepped_over")).isEqualTo(1);
    assertThat(run(0, "--step-over=2", "--reason=again")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--step-over = 2: nothing stops servers");
  }

  @Test
  void withKeysAForgedMessageStopsNobodyAndIsShownAsSuch() throws Exception {
    List<byte[]> before = take(1, with(keys));
    byte[] changed = before.getFirst().clone();
    changed[changed.length - 1]++;
    rocketMq.send(JOURNAL, 1, changed);
    rocketMq.send(JOURNAL, 1, ofLaterVersion(before.getFirst()));

    assertThat(run(1, with(keys))).isZero();
    assertThat(out.toString())
        .containsPattern("offset=0 bytes=146 key=blue-[0-9a-f]+ record=CLAIM")
        .containsPattern("offset=2 bytes=146 key=blue-[0-9a-f]+ rejected=unauthenticated\n")
        .endsWith(
            "offset=3 bytes=146 key=none rejected=version\nServers can read it to its end.\n");
    take(1, with(keys));
    assertThat(rejected("unauthenticated")).isEqualTo(2);
    assertThatThrownBy(() -> take(1, with(otherKeys)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("can be verified");
    assertThatThrownBy(() -> take(1)).isInstanceOf(IOException.class).hasMessageContaining("keys");
  }

  @Test
  void aNewQueueThatSomebodyElseHasWrittenToCanBeTakenAfterAStep() throws Exception {
    rocketMq.send(JOURNAL, 2, new byte[] {1, 2, 3});
    assertThatThrownBy(() -> take(2, with(keys)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("No message of the journal of queue embedded/2 can be verified");

    assertThat(run(2, with(keys), "--step-over=0", "--reason=not ours")).isZero();
    assertThat(out.toString()).endsWith("Servers can read it to its end.\n");
    // What is not ours, the step, and a barrier, a claim and a release of the take.
    assertThat(take(2, with(keys))).hasSize(5);
  }

  @Test
  void theJournalOfHalfEdgesIsATopicOfItsOwn() throws Exception {
    rocketMq.createTopic("edge-windows", 1);
    rocketMq.send("edge-windows", 0, new byte[] {1});
    String topic = "--trace-etl.edges.journal-topic=edge-windows";

    assertThat(run(0, "--edges", topic)).isZero();
    assertThat(out.toString())
        .startsWith("journal of queue embedded/0: offsets 0 to 1\n")
        .contains("offset=0 bytes=1 ");
    assertThat(run(3, "--edges", topic)).isEqualTo(2);
    assertThat(err.toString()).contains("must be a queue of topic edge-windows: embedded/0");
  }

  @Test
  void whatCannotBeIsSaidInALine() {
    assertThat(run(7)).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("--journal = embedded/7: must be a queue of topic windows: embedded/0, ");
    assertThat(run(3, "--messages=0")).isEqualTo(2);
    assertThat(run(3, with(home.resolve("none")))).isEqualTo(2);
    assertThat(run(3)).isZero();
    assertThat(out)
        .hasToString(
            "journal of queue embedded/3: offsets 0 to 0\nServers can read it to its end.\n");
  }
}
