package org.traceetl.server.journal.chain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.QueueJournal.Outcome;
import org.traceetl.server.journal.RandomWindows;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.TestRocketMq;

/** Tests logs and journals on a real broker. */
class RocketMqLogsTest {
  private static final String SPANS = "trace-spans";
  private static final String TOPIC = "trace-windows";
  private static final int QUEUES = 4;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  @TempDir static Path home;
  private static TestRocketMq rocketMq;
  private static RocketMqConfig config;
  private static RocketMqLogs logs;

  @BeforeAll
  static void start() throws Exception {
    rocketMq = new TestRocketMq(home);
    rocketMq.createTopic(SPANS, QUEUES + 2);
    rocketMq.createTopic(TOPIC, QUEUES);
    config = new RocketMqConfig(rocketMq.namesrvAddress(), SPANS, null, null, null, null);
    logs = new RocketMqLogs(config, TOPIC, TIMEOUT, Clocks.SYSTEM);
    logs.start();
  }

  @AfterAll
  static void stop() {
    logs.close();
    rocketMq.close();
  }

  private static QueueId queue(int number) {
    return new QueueId(TestRocketMq.BROKER, number);
  }

  @Test
  void aLogGivesBackWhatWasAppendedAtItsOffsets() throws Exception {
    JournalLog log = logs.open(queue(0));
    assertThat(log.begin()).isZero();
    assertThat(log.end()).isZero();
    assertThat(log.read(0)).isEmpty();
    List<byte[]> messages = messages(100, 30_000);

    for (int i = 0; i < messages.size(); i++) {
      assertThat(log.append(messages.get(i))).isEqualTo(i);
    }

    await().untilAsserted(() -> assertThat(log.end()).isEqualTo(messages.size()));
    List<Entry> entries = readAll(log, 0);
    assertThat(entries).extracting(Entry::offset).isSorted().hasSize(messages.size());
    for (Entry entry : entries) {
      assertThat(entry.body()).isEqualTo(messages.get((int) entry.offset()));
    }
    assertThat(readAll(log, 97)).extracting(Entry::offset).containsExactly(97L, 98L, 99L);
    assertThat(log.read(messages.size())).isEmpty();
    assertThat(log.read(messages.size() + 1_000)).isEmpty();
    assertThat(logs.open(queue(1)).end()).isZero();
  }

  @Test
  void whatOthersHaveCompressedIsNotInflated() throws Exception {
    JournalLog log = logs.open(queue(2));
    byte[] large = new byte[1 << 20];
    rocketMq.send(TOPIC, 2, large); // compressed, as producers do by default
    long own = log.append(new byte[] {1});
    await().untilAsserted(() -> assertThat(log.end()).isEqualTo(own + 1));

    assertThat(log.read(own - 1)).hasSize(2);
    assertThat(log.read(own - 1).getFirst().body()).hasSizeLessThan(large.length / 100);
  }

  @Test
  void logsAreFoundAndReadFromATimeOn() throws Exception {
    assertThat(logs.queues()).containsExactlyInAnyOrder(queue(0), queue(1), queue(2), queue(3));
    JournalLog log = logs.open(queue(2));
    long first = log.append(new byte[] {1});
    long timeMillis = System.currentTimeMillis() + 5;
    await().until(() -> System.currentTimeMillis() >= timeMillis);
    long second = log.append(new byte[] {2});
    await().untilAsserted(() -> assertThat(log.end()).isEqualTo(second + 1));

    assertThat(log.offsetAt(timeMillis)).isEqualTo(second);
    assertThat(log.offsetAt(0)).isLessThanOrEqualTo(first);
    assertThat(log.offsetAt(timeMillis + 3_600_000)).isGreaterThanOrEqualTo(second);
  }

  @Test
  void theLowestQueueOfAnotherTopicIsALogAsWell() throws Exception {
    assertThat(logs.lowest("not-there")).isNull();
    rocketMq.createTopic("trace-routing", 2);
    assertThat(logs.lowest("trace-routing")).isEqualTo(queue(0));
    assertThat(logs.queues("trace-routing")).containsExactlyInAnyOrder(queue(0), queue(1));
    assertThat(logs.queues("not-there")).isEmpty();
    JournalLog log = logs.open("trace-routing", queue(0));
    assertThat(log.append(new byte[] {7})).isZero();

    await().untilAsserted(() -> assertThat(log.end()).isEqualTo(1));
    assertThat(log.read(0)).singleElement().extracting(Entry::body).isEqualTo(new byte[] {7});
  }

  @Test
  void queuesOfTheSpansAreFoundAlsoWithoutALog() throws Exception {
    assertThat(logs.spanQueues())
        .containsExactlyInAnyOrder(
            queue(0), queue(1), queue(2), queue(3), queue(QUEUES), queue(QUEUES + 1));
  }

  private static List<byte[]> messages(int count, int bytes) {
    Random random = new Random(1);
    List<byte[]> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] message = new byte[1 + random.nextInt(bytes)];
      random.nextBytes(message);
      messages.add(message);
    }
    return messages;
  }

  private static List<Entry> readAll(JournalLog log, long from) throws Exception {
    List<Entry> all = new ArrayList<>();
    List<Entry> some = log.read(from);
    while (!some.isEmpty()) {
      all.addAll(some);
      some = log.read(some.getLast().offset() + 1);
    }
    return all;
  }

  @Test
  void marksAreThoseOfTheirGroup() throws Exception {
    JournalLog log = logs.open(queue(1));
    log.append(new byte[] {1});

    assertThat(log.mark("servers")).isEqualTo(JournalLog.NONE);
    log.mark("servers", 1);
    log.mark("sink", 0);

    assertThat(log.mark("servers")).isEqualTo(1);
    assertThat(log.mark("sink")).isZero();
    log.mark("servers", 0);
    assertThat(log.mark("servers")).isZero();
    assertThat(logs.open(queue(2)).mark("servers")).isEqualTo(JournalLog.NONE);
  }

  @Test
  void anOwnerSucceedsAnother() throws Exception {
    RandomWindows windows = new RandomWindows(3);
    QueueId queue = queue(3);
    LogJournals one = journals(windows);
    QueueJournal fenced = one.take(queue).journal();
    for (int i = 0; i < 20; i++) {
      assertThat(fenced.append(windows.next())).isEqualTo(Outcome.KEPT);
    }
    assertThat(fenced.renew()).isEqualTo(Outcome.KEPT);
    assertThat(fenced.snapshot()).isEqualTo(Outcome.KEPT);
    assertThat(fenced.append(windows.next())).isEqualTo(Outcome.KEPT);

    Journal.Taken taken = journals(windows).take(queue);

    var next = windows.next();
    assertThat(taken.image().to()).isEqualTo(next.from());
    assertThat(fenced.append(next)).isEqualTo(Outcome.FENCED);
    assertThat(taken.journal().append(next)).isEqualTo(Outcome.KEPT);
    assertThat(taken.journal().snapshot()).isEqualTo(Outcome.KEPT);
    JournalTail tail = one.tail(queue, "sink");
    List<JournalTail.Kept> kept = new ArrayList<>();
    do {
      kept.addAll(tail.poll());
    } while (tail.lag() > 0);
    assertThat(kept).hasSize(22);
    tail.mark(kept.get(19).offset());
    assertThat(one.tail(queue, "sink").poll()).hasSize(2);
  }

  private static LogJournals journals(RandomWindows windows) {
    return new LogJournals(
        logs,
        SPANS,
        "servers",
        () -> new QueueImage(RandomWindows.SCHEMA, windows.stride(), 1 << 20),
        new JournalTiming(
            Clocks.SYSTEM, new Random(), Duration.ofSeconds(30), Duration.ofMinutes(10)),
        new JournalCounters(),
        1_000);
  }

  @Test
  void aQueueWithoutAPlaceInTheTopicIsToldWithTheCommandThatMendsIt() {
    assertThatThrownBy(() -> logs.open(queue(QUEUES)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("trace-windows has only 4 queues on broker embedded: queue 4")
        .hasMessageContaining("mqadmin updateTopic -n '" + rocketMq.namesrvAddress() + "' -c ")
        .hasMessageContaining("-t trace-windows -r 6 -w 6");
  }

  @Test
  void aTopicThatIsNotThereIsTold() throws Exception {
    try (RocketMqLogs absent = new RocketMqLogs(config, "no-such-topic", TIMEOUT, Clocks.SYSTEM)) {
      absent.start();
      assertThatThrownBy(() -> absent.open(queue(0)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("no-such-topic is not there on broker embedded");
    }
  }

  @Test
  void aNameServerThatIsAwayIsTold() throws Exception {
    RocketMqConfig away = new RocketMqConfig("127.0.0.1:1", SPANS, null, null, null, null);
    try (RocketMqLogs none = new RocketMqLogs(away, TOPIC, TIMEOUT, Clocks.SYSTEM)) {
      none.start();
      assertThatThrownBy(() -> none.open(queue(0)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("127.0.0.1:1");
    }
  }
}
