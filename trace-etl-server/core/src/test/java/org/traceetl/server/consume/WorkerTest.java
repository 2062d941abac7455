package org.traceetl.server.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.impl.consumer.RebalanceService;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.Rejection;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.broker.RocketMqSpanConsumer;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.ownership.QueueOwnerships;
import org.traceetl.server.consume.ownership.UnreadReason;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.BatchMessage;
import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.decode.SpanMapping;
import org.traceetl.server.journal.InconsistentWindowException;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.testkit.TestRocketMq;

/** Tests one worker and its queues with a real RocketMQ; the test assigns queues. */
class WorkerTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final AtomicInteger tests = new AtomicInteger();
  private static TestRocketMq rocketMq;

  private final CountDownLatch gate = new CountDownLatch(1);
  private MemoryJournals journals;
  private String topic;
  private MessageQueue queue;
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicLong skippedNanos = new AtomicLong();
  private Clock wall = Clock.systemUTC();
  private final ListAppender<ILoggingEvent> log =
      new ListAppender<>() {
        @Override
        protected synchronized void append(ILoggingEvent event) {
          super.append(event);
        }
      };
  private Worker worker;
  private QueueOwnerships ownerships;
  private Committer committer;

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
    log.start();
    ((Logger) LoggerFactory.getLogger(Worker.class)).addAppender(log);
    topic = "worker-" + tests.incrementAndGet();
    queue = new MessageQueue(topic, TestRocketMq.BROKER, 0);
    rocketMq.createTopic(topic, 1);
  }

  @AfterEach
  void stop() throws InterruptedException {
    ((Logger) LoggerFactory.getLogger(Worker.class)).detachAppender(log);
    gate.countDown();
    worker.close();
    ownerships.close();
    committer.close();
    worker.thread().abort();
    worker.thread().join(PATIENCE);
    committer.thread().join(PATIENCE);
    worker.leave();
  }

  private boolean logged(String text) {
    synchronized (log) {
      return log.list.stream().anyMatch(event -> event.getFormattedMessage().contains(text));
    }
  }

  private long recorded() {
    return offered().stream().flatMap(w -> w.books().stream()).mapToLong(Books::recorded).sum();
  }

  private List<SealedWindow> offered() {
    return journals.offered;
  }

  private void start(Duration window) {
    start(window, null);
  }

  private void start(Duration window, MappedProfile profile) {
    start(window, profile, false);
  }

  private void start(Duration window, MappedProfile profile, boolean hasPanes) {
    WindowConfig windows = new WindowConfig(window, window.multipliedBy(100), null, null, null);
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .window(windows)
            .unit(MetricsConfig.Unit.MILLISECONDS)
            .profile(profile)
            .build();
    aggregation.panes(hasPanes);
    journals = new MemoryJournals(aggregation, LEASE);
    journals.obstacle = sealed -> gate.await();
    ownerships =
        new QueueOwnerships(
            journals, LEASE, List.of(), aggregation, new SpanPipelineMetrics(), Clocks.SYSTEM);
    committer = new Committer(new SpanPipelineMetrics(), Clocks.SYSTEM);
    Clocks clocks = new Clocks(() -> System.nanoTime() + skippedNanos.get(), wall);
    RocketMqConfig config =
        new RocketMqConfig(rocketMq.namesrvAddress(), topic, "group-" + topic, null, null, 1);
    SpanPipelineMetrics metrics =
        new SpanPipelineMetrics() {
          @Override
          public void failed() {
            failures.incrementAndGet();
          }
        };
    worker =
        new Worker(
            0,
            new Worker.Shared(
                config,
                RocketMqSpanConsumer.connector(config, clocks),
                aggregation,
                window.toMillis(),
                ownerships,
                committer,
                metrics,
                clocks));
    committer.thread().start();
    worker.thread().start();
  }

  private void send(int first, int count) throws Exception {
    for (int i = first; i < first + count; i++) {
      rocketMq.send(topic, 0, new BatchMessage("shop").span("a", 5_000_000).message(i));
    }
  }

  private void awaitRead(long offset) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(worker.queues()).extracting(QueueStatus::next).contains(offset));
  }

  /** Fails a number of times at the document of a failed span. */
  private static final class FailingMapping implements MappedProfile, SpanMapping {
    private static final int ERROR = 2;

    private final AtomicInteger failuresLeft;

    FailingMapping(int failures) {
      failuresLeft = new AtomicInteger(failures);
    }

    @Override
    public SpanMapping newMapping() {
      return this;
    }

    @Override
    public long[] boundsNanos(int kind) {
      return new HistogramConfig(null).boundsNanos();
    }

    @Override
    public AttributeKeys keys() {
      return new AttributeKeys(List.of());
    }

    @Override
    public void map(BatchDecoder batch) {}

    @Override
    public Map<String, String> documentAttributes(BatchDecoder batch, int span, int maxBytes) {
      boolean failed = batch.columns().status(span) == ERROR; // false for an exemplar
      if (failed && failuresLeft.getAndDecrement() > 0) {
        throw new IllegalStateException("made by the test: recording fails midway");
      }
      return Map.of();
    }
  }

  private long rejected() {
    return journals.offered.stream()
        .flatMap(window -> window.books().stream())
        .mapToLong(books -> books.rejected().getOrDefault(Rejection.INTERNAL.label(), 0L))
        .sum();
  }

  /** Sends 10 batches, one with three spans whose middle one failed, and 10 more. */
  private void sendAroundAFailedSpan() throws Exception {
    send(0, 10);
    rocketMq.send(
        topic,
        0,
        new BatchMessage("shop")
            .span("a", 5_000_000)
            .span("a", 2, 2, 5_000_000, 0)
            .span("a", 5_000_000)
            .message(10));
    send(11, 10);
  }

  private void assertBooksBalance(long recorded, long rejected) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(offered().stream().mapToLong(SealedWindow::to).max()).hasValue(21));
    assertThat(recorded()).isEqualTo(recorded);
    assertThat(rejected()).isEqualTo(rejected);
    assertThat(offered().stream().flatMapToLong(window -> Arrays.stream(window.counts())).sum())
        .as("in series")
        .isEqualTo(recorded);
    assertThat(
            offered().stream()
                .flatMap(window -> window.books().stream())
                .mapToLong(Books::received)
                .sum())
        .isEqualTo(recorded + rejected);
  }

  @Test
  void aBatchWhoseRecordingFailsOnceIsReadAgainAndCountsOnce() throws Exception {
    sendAroundAFailedSpan();
    gate.countDown();
    start(Duration.ofMillis(100), new FailingMapping(1));

    assertBooksBalance(23, 0);
  }

  @Test
  void aBatchWhoseRecordingAlwaysFailsIsRejectedAndItsQueueGoesOn() throws Exception {
    sendAroundAFailedSpan();
    gate.countDown();
    start(Duration.ofMillis(100), new FailingMapping(Integer.MAX_VALUE));

    assertBooksBalance(20, 3);
  }

  @Test
  void aWindowWithManyPanesEndsBeforeItIsDue() throws Exception {
    gate.countDown();
    // Windows end at full hours: none is due during the test.
    long hour = Duration.ofHours(1).toMillis();
    wall = Clock.offset(wall, Duration.ofMillis(hour / 2 - wall.millis() % hour));
    start(Duration.ofHours(1), null, true);
    long pane = 60_000;
    for (int i = 0; i < 20; i++) {
      sendWithAge(i, i * pane);
    }
    awaitRead(20);
    AtomicLong next = new AtomicLong(20);
    // The window is old enough by the time that one of these is read.
    await()
        .atMost(PATIENCE)
        .until(() -> {
          sendWithAge(next.getAndIncrement(), 0);
          return !offered().isEmpty();
        });

    assertThat(offered().getFirst().panes().others()).hasSizeGreaterThanOrEqualTo(15);
  }

  private void sendWithAge(long sequence, long ageMillis) throws Exception {
    byte[] message = new BatchMessage("shop").span("a", 5_000_000).message(sequence);
    rocketMq.send(topic, 0, message, Map.of(BatchAges.PROPERTY, Long.toString(ageMillis)));
  }

  @Test
  void anInconsistentWindowIsReadAgainOnceAndThenWritten() throws Exception {
    send(0, 10);
    start(Duration.ofMillis(100));
    journals.obstacle =
        window -> {
          if (window.from() == 0) {
            throw new InconsistentWindowException("made by the test");
          }
        };
    await().atMost(PATIENCE).until(() -> logged("from offset 0 was refused; worker"));
    await().atMost(PATIENCE).until(() -> worker.unread().containsValue(UnreadReason.REFUSED));
    skippedNanos.addAndGet(TimeUnit.SECONDS.toNanos(20));

    await().atMost(PATIENCE).until(() -> !journals.inconsistent.isEmpty());
    assertThat(journals.inconsistent.getFirst().from()).isZero();
    assertThat(journals.released).hasSize(1);
  }

  @Test
  void aQueueLostAndGotBackAtOnceIsReadFromItsLastWindowOn() throws Exception {
    send(0, 10);
    start(Duration.ofMillis(100));
    awaitRead(10);
    await().atMost(PATIENCE).until(() -> !offered().isEmpty());

    // The window in the journal is not committed yet, so its messages would be read again.
    worker.assigned(Set.of());
    worker.assigned(Set.of(queue));
    await().atMost(PATIENCE).until(() -> worker.queues().isEmpty());
    send(10, 10);
    gate.countDown();
    awaitRead(20);

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(recorded()).isEqualTo(20));
    long end = 0;
    for (SealedWindow window : offered()) {
      assertThat(window.from()).isEqualTo(end);
      end = window.to();
    }
  }

  @Test
  void aQueueThatCannotBeTakenOverHoldsUpNoOther() throws Exception {
    gate.countDown();
    send(0, 10);
    start(Duration.ofMillis(100));
    awaitRead(10);

    MessageQueue unreachable = new MessageQueue(topic, "no-such-broker", 0);
    worker.assigned(Set.of(queue, unreachable));
    send(10, 10);

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(recorded()).isEqualTo(20));
    await().atMost(PATIENCE).until(() -> logged("The broker of queue " + unreachable));
    assertThat(failures).hasValue(0);
  }

  @Test
  void aQueueThatMovedIsNotSealedWhenDraining() throws Exception {
    send(0, 10);
    start(Duration.ofHours(1));
    awaitRead(10);

    worker.assigned(Set.of());
    worker.drain(System.nanoTime() + PATIENCE.toNanos());
    worker.thread().join(PATIENCE);

    assertThat(worker.queues()).isEmpty();
    assertThat(offered()).isEmpty();
  }

  @Test
  void aQueueWhoseWindowIsStuckKeepsTheFirstFromNoRelease() throws Exception {
    drainWithAStuckQueue(1, 0);
  }

  @Test
  void aQueueWhoseWindowIsStuckKeepsTheSecondFromNoRelease() throws Exception {
    drainWithAStuckQueue(0, 1);
  }

  private void drainWithAStuckQueue(int stuck, int other) throws Exception {
    rocketMq.createTopic(topic, 2);
    rocketMq.send(topic, stuck, new BatchMessage("shop").span("a", 5_000_000).message(0));
    start(Duration.ofMillis(100));
    journals.obstacle =
        window -> {
          if (window.queue().queue() == stuck) {
            gate.await();
          }
        };
    await().atMost(PATIENCE).until(() -> worker.queues().size() == 2 && !offered().isEmpty());
    worker.drain(System.nanoTime() + 2 * PATIENCE.toNanos());

    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(journals.released).extracting(QueueId::queue).containsExactly(other));
  }

  @Test
  void aClientThatNoLongerRebalancesDoesNotKeepTheWorkerFromItsQueues() throws Exception {
    start(Duration.ofHours(1));
    await().atMost(PATIENCE).until(() -> worker.queues().size() == 1);

    // As after a step of the wall clock forward and back.
    stallClient(System.currentTimeMillis() + TimeUnit.HOURS.toMillis(26));
    rocketMq.createTopic(topic, 2);

    await()
        .atMost(PATIENCE)
        .until(() -> {
          skippedNanos.addAndGet(TimeUnit.SECONDS.toNanos(20));
          return worker.queues().size() == 2;
        });
  }

  /** Sets the time at which RocketMQ's client last rebalanced. */
  private void stallClient(long atMillis) throws ReflectiveOperationException {
    Field clients = MQClientManager.class.getDeclaredField("factoryTable");
    clients.setAccessible(true);
    Field service = MQClientInstance.class.getDeclaredField("rebalanceService");
    service.setAccessible(true);
    Field last = RebalanceService.class.getDeclaredField("lastRebalanceTimestamp");
    last.setAccessible(true);
    for (Object client : ((Map<?, ?>) clients.get(MQClientManager.getInstance())).values()) {
      if (((MQClientInstance) client).selectConsumer("group-" + topic) != null) {
        last.setLong(service.get(client), atMillis);
      }
    }
  }
}
