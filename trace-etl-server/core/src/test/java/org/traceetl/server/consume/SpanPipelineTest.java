package org.traceetl.server.consume;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.DeflaterOutputStream;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Rejection;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.broker.SpanConsumer;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.BatchMessage;
import org.traceetl.server.journal.NoAnswerException;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.testkit.TestRocketMq;

/** Tests the pipeline with a real RocketMQ. */
class SpanPipelineTest {
  private static final Duration LEASE = Duration.ofSeconds(2);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final AtomicInteger tests = new AtomicInteger();
  private static TestRocketMq rocketMq;

  private final Windows windows = new Windows();
  private final MemoryJournals journals =
      new MemoryJournals(aggregation(new WindowConfig(null, null, null, null, null)), LEASE);
  private final List<SpanPipeline> pipelines = new ArrayList<>();
  private final LongAdder replaced = new LongAdder();
  private String topic;

  @BeforeAll
  static void startRocketMq(@TempDir(cleanup = CleanupMode.NEVER) Path home) throws Exception {
    rocketMq = new TestRocketMq(home);
  }

  @AfterAll
  static void stopRocketMq() {
    rocketMq.close();
  }

  @BeforeEach
  void nameTopic() {
    topic = "spans-" + tests.incrementAndGet();
  }

  @AfterEach
  void closePipelines() {
    pipelines.forEach(SpanPipeline::close);
  }

  private static final class Windows implements WindowFollower {
    private final List<SealedWindow> sealed = new CopyOnWriteArrayList<>();
    private final List<QueueId> released = new CopyOnWriteArrayList<>();

    @Override
    public void window(SealedWindow window) {
      sealed.add(window);
    }

    @Override
    public void released(QueueId queue) {
      released.add(queue);
    }

    long recorded() {
      return sealed.stream().flatMap(w -> w.books().stream()).mapToLong(Books::recorded).sum();
    }

    long counted() {
      return sealed.stream().flatMapToLong(w -> Arrays.stream(w.counts())).sum();
    }

    /** Asserts that each queue's windows follow one another without a gap or an overlap. */
    void assertContiguous() {
      Map<QueueId, Long> ends = new HashMap<>();
      for (SealedWindow window : sealed) {
        assertThat(window.from()).as("%s", window).isEqualTo(ends.getOrDefault(window.queue(), 0L));
        ends.put(window.queue(), window.to());
      }
    }
  }

  private SpanPipeline start(int workers, Duration window) {
    return start(
        workers,
        window,
        new SpanPipelineMetrics() {
          @Override
          public void replaced(QueueId queue, long messages) {
            replaced.add(messages);
          }
        });
  }

  private SpanPipeline start(int workers, Duration window, SpanPipelineMetrics listener) {
    WindowConfig windowConfig =
        new WindowConfig(window, window.multipliedBy(100), null, null, null);
    RocketMqConfig config =
        new RocketMqConfig(rocketMq.namesrvAddress(), topic, group(), null, null, workers);
    SpanPipeline pipeline =
        new SpanPipeline(
            config,
            SpanConsumer.rocketMq(config, Clocks.SYSTEM),
            LEASE,
            windowConfig,
            aggregation(windowConfig),
            journals,
            List.of(windows),
            Clocks.SYSTEM,
            listener);
    pipelines.add(pipeline);
    pipeline.start();
    return pipeline;
  }

  private String group() {
    return "group-of-" + topic;
  }

  private static Aggregation aggregation(WindowConfig window) {
    return Aggregation.builder(() -> 1).window(window).build();
  }

  /** Sends batches of one span each to the queues in turn. */
  private void send(int first, int count, int queues) throws Exception {
    for (int i = first; i < first + count; i++) {
      rocketMq.send(topic, i % queues, new BatchMessage("shop").span("a", 5_000_000).message(i));
    }
  }

  @Test
  void messagesThatTookThePlaceOfLostOnesWhileNoServerRanAreCounted() throws Exception {
    rocketMq.createTopic(topic, 1);
    SpanPipeline before = start(1, Duration.ofMillis(100));
    send(0, 4, 1);
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(4));
    send(4, 6, 1);
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(10));
    before.drain(Duration.ofSeconds(20));
    rocketMq.loseFrom(topic, 0, 6);
    send(100, 8, 1);

    start(1, Duration.ofMillis(100));

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(18));
    assertThat(replaced.sum()).isBetween(4L, 6L);
  }

  @Test
  void messagesThatTookThePlaceOfLostOnesUnderAnOwnerAreCounted() throws Exception {
    rocketMq.createTopic(topic, 1);
    start(1, Duration.ofMillis(100));
    send(0, 10, 1);
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(10));
    rocketMq.loseFrom(topic, 0, 6);
    for (int i = 100; i < 108; i++) {
      byte[] body = new BatchMessage("shop").span("a", 5_000_000).message(i);
      rocketMq.storeAsAnotherMaster(topic, 0, body);
    }

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(18));
  }

  /** Agents repeat unconfirmed batches, so a batch may get its previous offset again. */
  private List<byte[]> afterALossFrom6To9() {
    List<byte[]> bodies = new ArrayList<>();
    for (int i : new int[] {100, 101, 102, 9, 103}) {
      bodies.add(new BatchMessage("shop").span("a", 5_000_000).message(i));
    }
    return bodies;
  }

  @Test
  void aBatchAtTheOffsetThatItHadBeforeALossHidesNoOtherWhileNoServerRan() throws Exception {
    rocketMq.createTopic(topic, 1);
    SpanPipeline before = start(1, Duration.ofMillis(100));
    send(0, 10, 1);
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(10));
    before.drain(Duration.ofSeconds(20));
    rocketMq.loseFrom(topic, 0, 6);
    for (byte[] body : afterALossFrom6To9()) {
      rocketMq.send(topic, 0, body);
    }

    start(1, Duration.ofMillis(100));

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(14));
  }

  @Test
  void aBatchAtTheOffsetThatItHadBeforeALossHidesNoOtherUnderAnOwner() throws Exception {
    rocketMq.createTopic(topic, 1);
    start(1, Duration.ofMillis(100));
    send(0, 10, 1);
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(10));
    rocketMq.loseFrom(topic, 0, 6);
    for (byte[] body : afterALossFrom6To9()) {
      rocketMq.storeAsAnotherMaster(topic, 0, body);
    }

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(14));
  }

  @Test
  void everyBatchCountsOnceHoweverTheQueuesMove() throws Exception {
    rocketMq.createTopic(topic, 4);
    byte[] good = new BatchMessage("shop").span("a", 5_000_000).message(1_000);
    byte[] malformed = Arrays.copyOf(good, good.length - 2);
    send(0, 200, 4);
    rocketMq.send(topic, 1, malformed);
    // The first worker gets all queues, and later loses some of them to the second one.
    SpanPipeline pipeline = start(2, Duration.ofMillis(100));
    send(200, 200, 4);
    rocketMq.send(topic, 2, malformed);
    send(400, 200, 4);

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(600));
    assertThat(windows.counted()).isEqualTo(600);
    windows.assertContiguous();
    assertThat(windows.sealed)
        .flatExtracting(SealedWindow::books)
        .extracting(Books::rejected)
        .filteredOn(rejected -> !rejected.isEmpty())
        .hasSize(2);
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(pipeline.missing()).isEmpty());
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(pipeline.queues()).hasSize(4).allMatch(queue -> queue.lag() == 0));
    await()
        .atMost(PATIENCE)
        .untilAsserted(() ->
            assertThat(pipeline.queues())
                .allMatch(queue ->
                    queue.committed() == queue.next()
                        && rocketMq.committed(group(), topic, queue.queue().queue())
                            == queue.next()));
  }

  /** RocketMQ's client would decompress 600 MiB, and drop all messages pulled with the garbage. */
  @Test
  void compressedMessagesAreRefusedAndTheirNeighboursCount() throws Exception {
    int zlib = MessageSysFlag.COMPRESSED_FLAG | MessageSysFlag.COMPRESSION_ZLIB_TYPE;
    rocketMq.createTopic(topic, 1);
    byte[] batch = new BatchMessage("shop").span("a", 5_000_000).message(1_000);
    send(0, 10, 1);
    rocketMq.store(topic, 0, deflatedZeros(600), zlib);
    send(10, 10, 1);
    rocketMq.store(topic, 0, "no zlib".getBytes(US_ASCII), zlib);
    send(20, 10, 1);
    rocketMq.store(topic, 0, batch, zlib);
    send(30, 10, 1);
    List<Rejection> refused = new CopyOnWriteArrayList<>();
    start(
        1,
        Duration.ofMillis(100),
        new SpanPipelineMetrics() {
          @Override
          public void rejected(int bytes, Rejection reason) {
            refused.add(reason);
          }
        });

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(40));
    windows.assertContiguous();
    assertThat(refused)
        .containsExactly(Rejection.MALFORMED, Rejection.MALFORMED, Rejection.MALFORMED);
  }

  private static byte[] deflatedZeros(int mebibytes) throws IOException {
    byte[] zeros = new byte[1 << 20];
    ByteArrayOutputStream deflated = new ByteArrayOutputStream();
    try (DeflaterOutputStream zlib = new DeflaterOutputStream(deflated)) {
      for (int i = 0; i < mebibytes; i++) {
        zlib.write(zeros);
      }
    }
    return deflated.toByteArray();
  }

  @Test
  void anOffsetIsNotCommittedBeforeTheJournalHasItsWindow() throws Exception {
    rocketMq.createTopic(topic, 1);
    CountDownLatch answer = new CountDownLatch(1);
    journals.obstacle = window -> answer.await();
    SpanPipeline killed = start(1, Duration.ofMillis(100));
    send(0, 10, 1);
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> {
          assertThat(journals.offered).isNotEmpty();
          assertThat(killed.queues()).allMatch(queue -> queue.next() == 10);
        });
    assertThat(rocketMq.committed(group(), topic, 0)).isLessThanOrEqualTo(0);
    killed.close();
    assertThat(rocketMq.committed(group(), topic, 0)).isLessThanOrEqualTo(0);

    answer.countDown();
    start(1, Duration.ofMillis(100));
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(10));
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(rocketMq.committed(group(), topic, 0)).isEqualTo(10));
    windows.assertContiguous();
  }

  @Test
  void aWindowThatTheJournalRefusedIsOfferedAgain() throws Exception {
    rocketMq.createTopic(topic, 1);
    AtomicInteger attempts = new AtomicInteger();
    journals.obstacle =
        window -> {
          if (attempts.incrementAndGet() < 3) {
            throw new IOException("not now");
          }
        };
    start(1, Duration.ofMillis(100));
    send(0, 20, 1);

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(20));
    windows.assertContiguous();
  }

  @Test
  void aPipelineWithADeadThreadIsNotAlive() throws Exception {
    rocketMq.createTopic(topic, 1);
    journals.obstacle =
        window -> {
          throw new AssertionError("made by the test: no sealer survives it");
        };
    SpanPipeline pipeline = start(1, Duration.ofMillis(100));
    assertThat(pipeline.healthy()).isTrue();
    send(0, 1, 1);

    await().dontCatchUncaughtExceptions().atMost(PATIENCE).until(() -> !pipeline.healthy());
    assertThat(pipeline.missing()).containsKey("pipeline");
  }

  @Test
  void drainingSealsAndCommitsWhatWasRead() throws Exception {
    rocketMq.createTopic(topic, 2);
    SpanPipeline pipeline = start(2, HOUR);
    // Wait: a queue that moves between the workers loses its window.
    await().atMost(PATIENCE).until(() -> pipeline.missing().isEmpty());
    send(0, 20, 2);
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(pipeline.queues()).hasSize(2).allMatch(queue -> queue.next() == 10));
    assertThat(windows.sealed).isEmpty();

    assertThat(pipeline.drain(Duration.ofSeconds(30))).isTrue();
    assertThat(windows.recorded()).isEqualTo(20);
    assertThat(rocketMq.committed(group(), topic, 0)).isEqualTo(10);
    assertThat(rocketMq.committed(group(), topic, 1)).isEqualTo(10);
    assertThat(pipeline.missing()).containsKey("pipeline");

    SpanPipeline next = start(1, Duration.ofMillis(100));
    send(20, 2, 2);
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(22));
    windows.assertContiguous();
    next.drain(Duration.ofSeconds(30));
  }

  @Test
  void closingWithoutDrainingLeavesTheRestToTheNextOne() throws Exception {
    rocketMq.createTopic(topic, 1);
    SpanPipeline pipeline = start(1, HOUR);
    send(0, 10, 1);
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(pipeline.queues()).hasSize(1).allMatch(queue -> queue.next() == 10));
    pipeline.close();
    assertThat(windows.sealed).isEmpty();

    start(1, Duration.ofMillis(100));
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(10));
  }

  @Test
  void aPipelineWithoutItsTopicIsNotReadyAndWaitsForIt() throws Exception {
    SpanPipeline early = start(1, Duration.ofMillis(100));
    assertThat(early.missing()).containsOnlyKeys(topic);
    rocketMq.createTopic(topic, 1);
    send(0, 5, 1);

    await().atMost(PATIENCE).until(() -> early.missing().isEmpty());
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(5));
  }

  @Test
  void aServerIsNotReadyBeforeItsFirstRebalance() throws Exception {
    rocketMq.createTopic(topic, 2);
    CountDownLatch gate = rocketMq.holdRebalances();
    try {
      SpanPipeline pipeline = start(1, HOUR);
      await()
          .atMost(PATIENCE)
          .until(() -> !"not connected yet".equals(pipeline.missing().get(topic)));
      assertThat(pipeline.missing()).containsOnlyKeys(topic);
      gate.countDown();
      awaitReadyWith(pipeline, 2);
    } finally {
      gate.countDown();
    }
  }

  @Test
  void aSecondServerIsNotReadyBeforeItOwnsItsQueues() throws Exception {
    rocketMq.createTopic(topic, 4);
    awaitReadyWith(start(1, HOUR), 4);
    journals.refusal = new IOException("made by the test");
    SpanPipeline second = start(1, HOUR);
    await().atMost(PATIENCE).until(() -> second.missing().toString().contains("made by the test"));
    assertThat(second.ready()).isFalse();
    journals.refusal = null;
    awaitReadyWith(second, 2);
  }

  @Test
  void aServerWithoutAQueueIsReady() throws Exception {
    rocketMq.createTopic(topic, 1);
    SpanPipeline first = start(1, HOUR);
    awaitReadyWith(first, 1);
    SpanPipeline second = start(1, HOUR);
    await()
        .atMost(PATIENCE)
        .until(() ->
            first.ready() && second.ready() && first.queues().size() + second.queues().size() == 1);
  }

  @Test
  void aBrokerThatDoesNotAnswerMakesNoServerUnreadyThatReadsAnotherQueue() throws Exception {
    rocketMq.createTopic(topic, 2);
    journals.refused = queue -> queue.queue() == 1;
    journals.refusal = new NoAnswerException("made by the test", null);
    SpanPipeline pipeline = start(1, HOUR);
    awaitReadyWith(pipeline, 1);
    assertThat(pipeline.missing().toString()).contains("made by the test");
    journals.refusal = null;
    await().atMost(PATIENCE).until(() -> pipeline.missing().isEmpty());
    assertThat(pipeline.queues()).hasSize(2);
  }

  @Test
  void aServerThatReadsNoneOfItsQueuesIsNotReadyWhoeverIsToBlame() throws Exception {
    rocketMq.createTopic(topic, 2);
    journals.refusal = new NoAnswerException("made by the test", null);
    SpanPipeline pipeline = start(1, HOUR);
    await()
        .atMost(PATIENCE)
        .until(() ->
            pipeline.missing().values().stream().allMatch(why -> why.contains("made by the test")));
    assertThat(pipeline.ready()).isFalse();
  }

  /** Asserts that the pipeline reads this many queues when it first becomes ready. */
  private static void awaitReadyWith(SpanPipeline pipeline, int queues) {
    await().atMost(PATIENCE).until(() -> pipeline.ready());
    assertThat(pipeline.queues()).hasSize(queues);
  }

  @Test
  void aQueueThatMovesToAnotherServerIsReadAgainFromItsLastWindow() throws Exception {
    rocketMq.createTopic(topic, 4);
    send(0, 40, 4);
    SpanPipeline first = start(1, HOUR);
    await().atMost(PATIENCE).until(() -> read(first) == 40);
    SpanPipeline second = start(1, HOUR);
    await()
        .atMost(PATIENCE)
        .until(() ->
            first.queues().size() == 2
                && second.queues().size() == 2
                && read(first) + read(second) == 40);
    await().atMost(PATIENCE).until(() -> windows.released.size() >= 2);

    assertThat(second.drain(Duration.ofSeconds(30))).isTrue();
    assertThat(first.drain(Duration.ofSeconds(30))).isTrue();
    assertThat(windows.recorded()).isEqualTo(40);
    windows.assertContiguous();
  }

  @Test
  void aQueueThatCannotBeTakenOverIsNamedAndNotRead() throws Exception {
    rocketMq.createTopic(topic, 1);
    journals.refusal = new IOException("made by the test");
    SpanPipeline pipeline = start(1, Duration.ofMillis(100));
    send(0, 5, 1);
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(pipeline.missing().toString()).contains("made by the test"));
    assertThat(pipeline.queues()).isEmpty();
    assertThat(pipeline.healthy()).isTrue();

    journals.refusal = null;

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(5));
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(pipeline.missing()).isEmpty());
  }

  @Test
  void aQueueThatAnotherOwnerClaimedIsDroppedAndCountsOnce() throws Exception {
    rocketMq.createTopic(topic, 1);
    SpanPipeline pipeline = start(1, HOUR);
    send(0, 10, 1);
    await().atMost(PATIENCE).until(() -> read(pipeline) == 10);

    journals.fence(new QueueId(TestRocketMq.BROKER, 0));

    await().atMost(PATIENCE).until(() -> !windows.released.isEmpty());
    await().atMost(PATIENCE).until(() -> !pipeline.missing().isEmpty());
    // RocketMQ still assigns the queue to this server, which takes and reads it again.
    await().atMost(PATIENCE).until(() -> read(pipeline) == 10);
    assertThat(pipeline.drain(Duration.ofSeconds(30))).isTrue();
    assertThat(windows.recorded()).isEqualTo(10);
    windows.assertContiguous();
  }

  @Test
  void aBrokerThatLostItsTailIsReadOnWhereItEnds() throws Exception {
    rocketMq.createTopic(topic, 1);
    send(0, 10, 1);
    rocketMq.commit(group(), topic, 0, 1_000);
    SpanPipeline pipeline = start(1, Duration.ofMillis(100));
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(pipeline.queues()).extracting(QueueStatus::next).containsExactly(10L));
    send(10, 5, 1);

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(5));
  }

  @Test
  void moreQueuesThanAConsumerPullsFromByDefaultAreAllRead() throws Exception {
    rocketMq.createTopic(topic, 40);
    SpanPipeline pipeline = start(1, Duration.ofMillis(100));
    await().atMost(PATIENCE).until(() -> pipeline.queues().size() == 40);
    send(0, 120, 40);

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(windows.recorded()).isEqualTo(120));
  }

  private static long read(SpanPipeline pipeline) {
    return pipeline.queues().stream().mapToLong(QueueStatus::next).sum();
  }
}
