package org.traceetl.agent.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.telemetry.MetricValues.value;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.publish.MemoryTransport.Beat;
import org.traceetl.agent.publish.MemoryTransport.Kept;
import org.traceetl.agent.publish.MemoryTransport.Mode;
import org.traceetl.agent.publish.MemoryTransport.Stored;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.spool.Outlet;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpoolMetrics;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.agent.spool.TestSpool;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.BundleWriter;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.SpanBatchWriter;

/** Bundles of a sender whose thread is the test. */
final class QueueSenderTest {
  private static final BrokerQueue A = new BrokerQueue("broker-a", 0);
  private static final BrokerQueue B = new BrokerQueue("broker-a", 1);
  private static final BrokerQueue C = new BrokerQueue("broker-b", 0);
  private static final long LINGER = TimeUnit.MILLISECONDS.toNanos(100);
  private static final AgentIdentity AGENT = new AgentIdentity(7, 8, 1);

  @TempDir private Path directory;

  private final MemoryTransport transport =
      new MemoryTransport(() -> TimeUnit.NANOSECONDS.toMillis(nowNanos()));
  private final Queue<Runnable> answers = new ArrayDeque<>();
  private final SpoolMetrics spoolMetrics = new SpoolMetrics();
  private final PublishMetrics metrics = new PublishMetrics();
  private final List<SpooledBatch> batches = new ArrayList<>();
  private final Map<String, byte[]> committed = new HashMap<>();
  private final Map<String, Long> committedMillis = new HashMap<>();
  private long nowNanos;
  private long downMillis;
  private Spool spool;
  private BodyMemory memory;
  private QueueSender sender;

  @BeforeEach
  void open() throws IOException {
    open(AGENT);
  }

  private void open(AgentIdentity agent) throws IOException {
    spool =
        Spool.open(
            TestSpool.config(directory),
            agent,
            spoolMetrics,
            TestSpool.clocks(() -> nowNanos, () -> TimeUnit.NANOSECONDS.toMillis(nowNanos)));
    create(1 << 20);
  }

  private void create(long mostBodyBytes) {
    create(mostBodyBytes, 0);
  }

  private void create(long mostBodyBytes, long lingerNanos) {
    memory = new BodyMemory(mostBodyBytes);
    sender =
        new QueueSender(
            TestPublisher.withLinger(
                TestPublisher.options(mostBodyBytes, Long.MAX_VALUE / 2, Long.MAX_VALUE / 2),
                lingerNanos),
            transport,
            spool,
            run -> run.equals(AGENT) ? downMillis : 0,
            TestPublisher.SELF,
            memory,
            new BrokerRoutes(new Detour(Long.MAX_VALUE / 2, spool::partOf)),
            metrics,
            () -> nowNanos,
            new SplittableRandom(1),
            answers::add);
    sender.bundlesUntil(Long.MAX_VALUE / 2);
    spool.outlet(
        new Outlet() {
          @Override
          public void append(List<SpooledBatch> appended) {
            batches.addAll(appended);
            for (SpooledBatch batch : appended) {
              if (memory.hasRoomFor(batch)) {
                memory.hold(batch);
              } else {
                batch.body(null);
              }
              sender.add(batch);
            }
          }

          @Override
          public void forget(List<SpooledBatch> dropped) {
            dropped.forEach(sender::remove);
          }
        });
  }

  @AfterEach
  void close() throws IOException {
    spool.close();
  }

  private static byte[] body(long sequence, int paddingBytes) {
    SpanBatchWriter batch = new SpanBatchWriter();
    batch.begin();
    byte[] name = "shop".getBytes(UTF_8);
    int text = batch.intern(name, 0, name.length);
    batch.application(text);
    byte[] padding = new byte[Math.min(paddingBytes, 60_000)];
    for (int i = 0; i < paddingBytes; i += padding.length) {
      padding[0] = (byte) i;
      padding[1] = (byte) (i >> 8);
      padding[2] = (byte) (i >> 16);
      batch.intern(padding, 0, padding.length);
    }
    batch.startGroupedSpan(text, 2, 0, 1_000_000, 0);
    batch.endSpan();
    int length = batch.finish(AGENT.high(), AGENT.low(), AGENT.epoch(), sequence);
    return Arrays.copyOf(batch.buffer(), length);
  }

  private void commit(BrokerQueue queue, long from, long to) throws IOException {
    for (long sequence = from; sequence < to; sequence++) {
      commitPadded(queue, sequence, 0);
    }
  }

  private void commitPadded(BrokerQueue queue, long sequence, int paddingBytes) throws IOException {
    byte[] body = body(sequence, paddingBytes);
    committed.put(queue + " " + sequence, body);
    committedMillis.put(queue + " " + sequence, TimeUnit.NANOSECONDS.toMillis(nowNanos));
    TestSpool.commit(spool, AGENT, spool::nowMillis, queue, sequence, body);
  }

  private long nowNanos() {
    return nowNanos;
  }

  private void send() {
    sender.addedUntil(spool.handedOverUntilMillis());
    sender.send(nowNanos);
  }

  private void answer() {
    while (!answers.isEmpty()) {
      answers.remove().run();
    }
  }

  /** Sends and lets time pass until the spool is empty. */
  private void drain() {
    for (int i = 0; i < 10_000 && spool.batches() > 0; i++) {
      send();
      answer();
      nowNanos += TimeUnit.MILLISECONDS.toNanos(10);
      sender.check(nowNanos);
    }
    assertThat(spool.batches()).isZero();
  }

  private List<Long> sequences() {
    return transport.stored().stream().map(Stored::sequence).toList();
  }

  /** What a server counts: each name once. */
  private void assertEachCountsOnce() {
    Set<String> names = new HashSet<>();
    for (Stored batch : transport.stored()) {
      String name = batch.queue() + " " + batch.sequence();
      assertThat(batch.body()).as(name).isEqualTo(committed.get(name));
      names.add(name);
    }
    assertThat(names).isEqualTo(committed.keySet());
    assertThat(value(metrics, "batches_published_total")).isEqualTo(committed.size());
    assertThat(memory.bytes()).isZero();
  }

  @Test
  void waitingBatchesOfAQueueShareAMessage() throws Exception {
    commit(A, 0, 5);
    commit(B, 0, 2);
    send();
    answer();

    assertThat(transport.messages()).containsExactlyInAnyOrder(5, 2);
    assertThat(transport.stored().stream().filter(s -> s.queue().equals(A)).map(Stored::sequence))
        .containsExactly(0L, 1L, 2L, 3L, 4L);
    assertThat(value(metrics, "bundles_published_total")).isEqualTo(2);
    assertThat(value(metrics, "spans_published_total")).isEqualTo(7);
    assertThat(spool.batches()).isZero();
    assertEachCountsOnce();
  }

  @Test
  void batchesAreSentOneByOneWithoutBundles() throws Exception {
    sender.bundlesUntil(nowNanos);
    commit(A, 0, 5);
    send();
    sender.bundlesUntil(Long.MAX_VALUE / 2);
    commit(A, 5, 6);
    send();
    answer();

    assertThat(transport.messages()).containsExactly(1, 1, 1, 1, 1, 1);
    assertThat(value(metrics, "bundles_published_total")).isZero();
    assertEachCountsOnce();
  }

  @Test
  void bundlesStayWithinTheSequenceWindow() throws Exception {
    transport.mode(Mode.HOLD);
    commit(A, 0, 1);
    send();
    commit(A, 1, 2 * QueueBacklog.SEQUENCE_WINDOW);
    send();
    assertThat(transport.held()).isEqualTo(2);
    transport.confirmHeld();
    answer();
    assertThat(transport.messages()).containsExactlyInAnyOrder(1, 255);
    send();
    transport.confirmHeld();
    answer();

    assertThat(transport.messages()).endsWith(QueueBacklog.SEQUENCE_WINDOW);
    assertEachCountsOnce();
  }

  @Test
  void bundlesAreBoundedInBytes() throws Exception {
    for (int sequence = 0; sequence < 4; sequence++) {
      commitPadded(A, sequence, 100_000);
    }
    commitPadded(A, 4, BundleWriter.MAX_BYTES);
    commit(A, 5, 6);
    send();
    answer();

    assertThat(transport.messages()).containsExactly(2, 2, 1, 1);
    assertThat(sequences()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
    assertEachCountsOnce();
  }

  @Test
  void aFailedBundleIsSentAgainInAnother() throws Exception {
    transport.mode(Mode.STORE_AND_TIME_OUT);
    commit(A, 0, 4);
    send();
    answer();
    assertThat(spool.batches()).isEqualTo(4);
    assertThat(memory.bytes()).isZero();
    commit(A, 4, 6);
    transport.mode(Mode.CONFIRM);
    drain();

    // After a failure, one batch at a time until one is confirmed.
    assertThat(transport.messages()).containsExactly(4, 1, 5);
    assertThat(sequences()).containsExactly(0L, 1L, 2L, 3L, 0L, 1L, 2L, 3L, 4L, 5L);
    assertEachCountsOnce();
  }

  @Test
  void aLateConfirmationOfALostBundleCountsOnce() throws Exception {
    transport.mode(Mode.HOLD);
    commit(A, 0, 4);
    send();
    nowNanos += TimeUnit.MINUTES.toNanos(1);
    sender.check(nowNanos);
    nowNanos += TimeUnit.MINUTES.toNanos(1);
    send();
    assertThat(transport.held()).isEqualTo(2);
    transport.confirmHeld();
    answer();

    assertThat(transport.messages()).containsExactlyInAnyOrder(4, 1);
    assertThat(spool.batches()).isZero();
    assertEachCountsOnce();
  }

  @Test
  void batchesOfARefusedBundleAreSentOneByOne() throws Exception {
    transport.refuseAbove(2);
    commit(A, 0, 4);
    commit(B, 0, 2);
    drain();

    assertThat(transport.messages()).containsExactlyInAnyOrder(2, 1, 1, 1, 1);
    assertThat(value(metrics, "send_failures_total", "kind", "refused")).isEqualTo(1);
    assertThat(dropped("refused_by_broker")).isZero();
    commit(A, 4, 6);
    drain();
    assertThat(transport.messages()).endsWith(2);
    assertEachCountsOnce();
  }

  @Test
  void batchesOfARefusedBundleShareNoMessageWithOthers() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    commit(A, 0, 2);
    send();
    transport.refuseAbove(2);
    commit(A, 2, 5);
    send();
    answer();
    transport.mode(Mode.CONFIRM);
    commit(A, 5, 7);
    drain();

    // A probe after the failure, the other failed batch, the refused ones, and the new ones.
    assertThat(transport.messages()).containsExactly(1, 1, 1, 1, 1, 2);
    assertEachCountsOnce();
  }

  @Test
  void onlyTheRefusedBatchOfABundleIsDropped() throws Exception {
    transport.refuse(batch -> batch.sequence() == 1);
    commit(A, 0, 4);
    drain();

    assertThat(sequences()).containsExactly(0L, 2L, 3L);
    assertThat(dropped("refused_by_broker")).isEqualTo(1);
    assertThat(memory.bytes()).isZero();
  }

  @Test
  void bundlesAreReadFromTheSpoolWithinTheMemoryBound() throws Exception {
    int batchBytes = body(0, 50_000).length;
    create(3L * batchBytes);
    transport.mode(Mode.HOLD);
    for (int sequence = 0; sequence < 10; sequence++) {
      commitPadded(A, sequence, 50_000);
    }
    send();
    assertThat(memory.bytes()).isBetween(3L * batchBytes, 3L * batchBytes + 100);
    assertThat(transport.held()).isEqualTo(1);
    while (spool.batches() > 0) {
      transport.confirmHeld();
      answer();
      send();
      assertThat(memory.bytes()).isLessThanOrEqualTo(3L * batchBytes + 100);
    }

    assertThat(transport.messages()).containsExactly(3, 3, 3, 1);
    assertEachCountsOnce();
  }

  @Test
  void aDroppedBatchOfABundleIsNotSentAgain() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    commit(A, 0, 3);
    send();
    sender.remove(batches.get(1));
    answer();
    transport.mode(Mode.CONFIRM);
    nowNanos += TimeUnit.SECONDS.toNanos(1);
    for (int i = 0; i < 3; i++) {
      send();
      answer();
    }

    assertThat(sequences()).containsExactly(0L, 2L);
    assertThat(memory.bytes()).isZero();
  }

  /** Lets time pass, sends, and returns the stored messages. */
  private List<Integer> messagesAfter(long millis) {
    nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
    send();
    answer();
    return transport.messages();
  }

  private long untilDueMillis() {
    return TimeUnit.NANOSECONDS.toMillis(
        sender.untilDueNanos(nowNanos, TimeUnit.SECONDS.toNanos(1)));
  }

  @Test
  void batchesWaitForOthersSinceTheFirstOfThem() throws Exception {
    create(1 << 20, LINGER);
    assertThat(untilDueMillis()).isEqualTo(1_000);
    commit(A, 0, 1);
    assertThat(messagesAfter(60)).isEmpty();
    assertThat(untilDueMillis()).isEqualTo(40);
    commit(A, 1, 3);
    commit(B, 0, 1);
    assertThat(messagesAfter(39)).isEmpty();
    assertThat(untilDueMillis()).isEqualTo(1);
    assertThat(messagesAfter(1)).containsExactly(3);
    assertThat(untilDueMillis()).isEqualTo(60);
    assertThat(messagesAfter(60)).containsExactly(3, 1);
    commit(A, 3, 4);
    assertThat(messagesAfter(99)).containsExactly(3, 1);
    assertThat(messagesAfter(1)).containsExactly(3, 1, 1);
    assertEachCountsOnce();
  }

  @Test
  void fullBundlesAreSentAtOnceAndTheRestWaits() throws Exception {
    create(64 << 20, LINGER);
    for (int sequence = 0; sequence < 7; sequence++) {
      commitPadded(A, sequence, 100_000);
    }
    assertThat(messagesAfter(0)).containsExactly(2, 2, 2);
    assertThat(untilDueMillis()).isEqualTo(100);
    commit(B, 0, QueueBacklog.SEQUENCE_WINDOW + 1);
    assertThat(messagesAfter(0)).containsExactly(2, 2, 2, QueueBacklog.SEQUENCE_WINDOW);
    assertThat(messagesAfter(100)).endsWith(1, 1).hasSize(6);
    assertEachCountsOnce();
  }

  @Test
  void aDrainSendsWaitingBatches() throws Exception {
    create(1 << 20, LINGER);
    commit(A, 0, 2);
    assertThat(messagesAfter(0)).isEmpty();
    sender.drain();
    assertThat(messagesAfter(0)).containsExactly(2);
    commit(A, 2, 3);
    assertThat(messagesAfter(0)).containsExactly(2, 1);
    assertEachCountsOnce();
  }

  @Test
  void batchesDoNotWaitWithoutBundles() throws Exception {
    create(1 << 20, LINGER);
    commit(A, 0, 2);
    assertThat(messagesAfter(0)).isEmpty();
    sender.bundlesUntil(nowNanos);
    assertThat(messagesAfter(0)).containsExactly(1, 1);
    assertEachCountsOnce();
  }

  @Test
  void batchesDoNotWaitWhileMemoryIsScarce() throws Exception {
    create(4L * body(0, 50_000).length, LINGER);
    commitPadded(A, 0, 50_000);
    commitPadded(A, 1, 50_000);
    assertThat(messagesAfter(0)).isEmpty();
    commitPadded(A, 2, 50_000);
    assertThat(messagesAfter(0)).containsExactly(3);
    assertEachCountsOnce();
  }

  @Test
  void batchesDoNotWaitWhileTheSpoolIsScarce() throws Exception {
    create(64 << 20, LINGER);
    transport.mode(Mode.UNREACHABLE);
    int most = (int) value(spoolMetrics, "spool_limit_batches") / 2;
    commit(B, 0, most);
    send();
    answer();
    transport.mode(Mode.CONFIRM);
    commit(A, 0, 1);
    assertThat(spool.isScarce()).isTrue();
    send();
    assertThat(transport.stored()).isNotEmpty();
    drain();
    commit(A, 1, 2);
    assertThat(spool.isScarce()).isFalse();
    int messages = transport.messages().size();
    assertThat(messagesAfter(0)).hasSize(messages);
    assertThat(messagesAfter(100)).hasSize(messages + 1);
    assertEachCountsOnce();
  }

  @Test
  void failedBatchesDoNotWaitForOthers() throws Exception {
    create(1 << 20, LINGER);
    transport.mode(Mode.UNREACHABLE);
    commit(A, 0, 2);
    assertThat(messagesAfter(100)).isEmpty();
    assertThat(transport.attempts()).isEqualTo(1);
    transport.mode(Mode.CONFIRM);
    commit(A, 2, 4);
    assertThat(untilDueMillis()).isLessThan(10);
    assertThat(messagesAfter(10)).containsExactly(1);
    assertThat(messagesAfter(0)).containsExactly(1, 3);
    assertEachCountsOnce();
  }

  private void pass(long millis) {
    nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
  }

  @Test
  void aMessageHasTheAgeOfItsBatch() throws Exception {
    commit(A, 0, 1);
    pass(1_520);
    send();

    assertThat(transport.ages()).containsExactly("1520;");
  }

  @Test
  void aBundleHasTheAgesOfItsBatchesInItsOrder() throws Exception {
    commit(A, 0, 1);
    pass(20);
    commit(B, 0, 1);
    commit(A, 1, 3);
    pass(1_500);
    send();

    assertThat(transport.ages()).containsExactlyInAnyOrder("1520,-20;1500", "1500;1520");
    assertThat(sequences()).containsSubsequence(0L, 1L, 2L);
  }

  @Test
  void aRetryHasTheAgesOfItsOwnTime() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    commit(A, 0, 1);
    pass(10);
    commit(A, 1, 2);
    send();
    answer();
    transport.mode(Mode.CONFIRM);
    pass(90_000);
    send();
    answer();
    pass(5);
    send();

    // After a failure, one batch at a time until one is confirmed.
    assertThat(transport.ages()).containsExactly("10,-10;", "90010;90000", "90005;90015");
  }

  @Test
  void aBatchOfAnEarlierRunIsOlderByTheDownTime() throws Exception {
    commit(A, 0, 1);
    spool.close();
    downMillis = 600_000;
    open(new AgentIdentity(7, 8, 2));
    pass(20);
    spool.takeRecovered().forEach(sender::add);
    send();
    answer();

    assertThat(transport.ages()).containsExactly("600020;");
  }

  @Test
  void aBatchThatDoesNotFitIntoABundleKeepsItsAge() throws Exception {
    commitPadded(A, 0, 100_000);
    pass(1);
    commitPadded(A, 1, 100_000);
    pass(2);
    commitPadded(A, 2, 100_000);
    pass(4);
    send();

    assertThat(transport.messages()).containsExactly(2, 1);
    assertThat(transport.ages()).containsExactly("7,-1;4", "4;7");
  }

  @Test
  void aMessageHasTheAgeOfTheOldestUnconfirmedBatchOutsideOfIt() throws Exception {
    transport.mode(Mode.HOLD);
    sender.bundlesUntil(nowNanos);
    commit(A, 0, 2);
    commit(B, 0, 1);
    pass(100);
    send();
    pass(50);
    commit(A, 2, 3);
    pass(1);
    send();

    assertThat(transport.ages().subList(3, 4)).containsExactly("1;151");
    assertThat(transport.ages().subList(0, 3)).containsExactly("100;100", "100;100", "100;100");
    transport.confirmHeld();
    answer();
    commit(A, 3, 4);
    send();
    assertThat(transport.ages().getLast()).isEqualTo("0;");
  }

  @Test
  void batchesThatAreNotAddedYetHoldBackMessages() throws Exception {
    commit(A, 0, 1);
    pass(20);
    spool.beginFrame();
    pass(7);
    send();
    assertThat(transport.ages()).containsExactly("27;7");

    answer();
    spool.endFrame();
    commit(A, 1, 2);
    send();
    assertThat(transport.ages()).containsExactly("27;7", "0;");
  }

  @Test
  void batchesBehindTheSequenceWindowHoldBackMessages() throws Exception {
    commit(A, 0, QueueBacklog.SEQUENCE_WINDOW);
    pass(10);
    commit(A, QueueBacklog.SEQUENCE_WINDOW, QueueBacklog.SEQUENCE_WINDOW + 1);
    pass(5);
    send();

    assertThat(transport.ages()).containsExactly("15;5");
  }

  @Test
  void batchesOfAnEarlierRunHoldBackMessagesByTheDownTimeToo() throws Exception {
    sender.bundlesUntil(nowNanos);
    commit(A, 0, 2);
    spool.close();
    downMillis = 600_000;
    open(new AgentIdentity(7, 8, 2));
    sender.bundlesUntil(nowNanos);
    pass(20);
    spool.takeRecovered().forEach(sender::add);
    send();

    assertThat(transport.ages()).containsExactly("600020;600020", "600020;600020");
  }

  @Test
  void droppedBatchesHoldBackNothing() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    commit(A, 0, 1);
    pass(10);
    commit(A, 1, 2);
    send();
    sender.remove(batches.getFirst());
    answer();
    transport.mode(Mode.CONFIRM);
    pass(1_000);
    send();

    assertThat(transport.ages().getLast()).isEqualTo("1000;");
  }

  private void permitHeartbeats() {
    sender.heartbeats.until(Long.MAX_VALUE / 2);
  }

  /** Lets seconds pass, with a check and the answers in each. */
  private void passSeconds(int seconds) {
    for (int i = 0; i < seconds; i++) {
      pass(1_000);
      send();
      sender.check(nowNanos);
      answer();
    }
  }

  private List<Beat> beats(BrokerQueue queue) {
    return transport.beats().stream().filter(beat -> beat.queue().equals(queue)).toList();
  }

  private static Beat alive(BrokerQueue queue, String ages) {
    return new Beat(queue, TestPublisher.SELF, ages);
  }

  private static Beat goodbye(BrokerQueue queue) {
    return new Beat(queue, new Heartbeat(7, 8, 1, true, "web3"), ";");
  }

  @Test
  void queuesWithoutBatchesGetHeartbeatsAndThenAGoodbye() throws Exception {
    permitHeartbeats();
    commit(A, 0, 1);
    send();
    answer();
    // The first one names the host.
    passSeconds(15);
    assertThat(beats(A)).containsExactly(alive(A, ";"));
    passSeconds(1);
    assertThat(beats(A)).containsExactly(alive(A, ";"), alive(A, ";"));
    passSeconds(43);
    assertThat(beats(A)).hasSize(4).containsOnly(alive(A, ";"));
    passSeconds(1);
    assertThat(beats(A)).hasSize(5).endsWith(goodbye(A));
    passSeconds(600);
    assertThat(transport.beats()).hasSize(5);
    assertThat(value(metrics, "heartbeats_published_total")).isEqualTo(5);
    assertEachCountsOnce();
  }

  @Test
  void queuesWithBatchesGetAHeartbeatAfterTheFirstBatchAndEachFiveMinutes() throws Exception {
    permitHeartbeats();
    for (int sequence = 0; sequence < 25; sequence++) {
      commit(A, sequence, sequence + 1);
      passSeconds(14);
    }

    assertThat(beats(A)).containsExactly(alive(A, ";"), alive(A, ";"));
    assertThat(transport.kept().getFirst().batches()).hasSize(1);
    assertThat(transport.kept().get(1).batches()).isEmpty();
  }

  @Test
  void heartbeatsOfAQueueHaveTheAgeOfItsOldestUnconfirmedBatch() throws Exception {
    permitHeartbeats();
    commit(A, 0, 1);
    commit(B, 0, 1);
    send();
    answer();
    transport.mode(Mode.HOLD);
    commit(A, 1, 2);
    pass(500);
    send();
    transport.mode(Mode.CONFIRM);
    pass(15_000);
    sender.check(nowNanos);

    assertThat(beats(A)).containsExactly(alive(A, ";15500"));
    transport.confirmHeld();
    answer();
    pass(15_000);
    send();
    sender.check(nowNanos);
    assertThat(beats(A)).containsExactly(alive(A, ";15500"), alive(A, ";"));
    assertThat(beats(B)).containsExactly(alive(B, ";15000"), alive(B, ";"));
  }

  @Test
  void messagesToOtherQueuesSayThatTheFirstBatchesOfAQueueMayBeMissing() throws Exception {
    permitHeartbeats();
    commit(A, 0, 1);
    send();
    answer();
    transport.away(C.broker());
    commit(C, 0, 1);
    passSeconds(10);
    commit(C, 1, 2);
    passSeconds(290);
    assertThat(beats(A)).as("the last one, 14 s ago").last().isEqualTo(alive(A, ";286000"));

    transport.away("");
    passSeconds(10);
    assertEachCountsOnce();
    commit(A, 1, 2);
    send();
    assertThat(transport.ages().getLast()).as("servers may not have read it").isEqualTo("0;310000");
    passSeconds(60);
    commit(A, 2, 3);
    send();
    assertThat(transport.ages().getLast()).isEqualTo("0;");
  }

  @Test
  void firstBatchesThatAreConfirmedSoonHoldBackNothingAfterwards() throws Exception {
    commit(B, 0, 1);
    send();
    answer();
    transport.mode(Mode.HOLD);
    commit(A, 0, 1);
    pass(3_000);
    send();
    transport.mode(Mode.CONFIRM);
    commit(B, 1, 2);
    send();
    assertThat(transport.ages().getLast()).isEqualTo("0;3000");

    transport.confirmHeld();
    answer();
    commit(B, 2, 3);
    send();
    assertThat(transport.ages().getLast()).isEqualTo("0;");
  }

  @Test
  void queuesStayInUseWhileServersDoNotWaitInAnother() throws Exception {
    permitHeartbeats();
    commit(B, 0, 1);
    send();
    answer();
    transport.mode(Mode.HOLD);
    commit(A, 0, 1);
    send();
    transport.mode(Mode.CONFIRM);
    sender.heartbeats.leaveIdle(nowNanos);
    assertThat(transport.beats()).isEmpty();

    transport.confirmHeld();
    answer();
    sender.heartbeats.leaveIdle(nowNanos);
    assertThat(transport.beats()).containsExactlyInAnyOrder(goodbye(A), goodbye(B));
  }

  @Test
  void aQueueWithUnconfirmedBatchesGetsNoGoodbye() throws Exception {
    permitHeartbeats();
    transport.away(A.broker());
    commit(A, 0, 1);
    passSeconds(300);
    sender.heartbeats.leaveIdle(nowNanos);
    transport.away("");
    passSeconds(1);
    assertThat(transport.beats()).isEmpty();

    passSeconds(70);
    assertThat(beats(A)).hasSize(5).endsWith(goodbye(A));
    assertEachCountsOnce();
  }

  @Test
  void heartbeatsNeedAPermission() throws Exception {
    commit(A, 0, 1);
    send();
    answer();
    passSeconds(20);
    assertThat(transport.beats()).isEmpty();
    sender.heartbeats.until(nowNanos + TimeUnit.SECONDS.toNanos(20));
    passSeconds(1000);

    assertThat(beats(A)).containsExactly(alive(A, ";"), alive(A, ";"));
  }

  @Test
  void failedHeartbeatsAreNotRepeated() throws Exception {
    permitHeartbeats();
    commit(A, 0, 1);
    send();
    answer();
    for (Mode mode : List.of(Mode.UNREACHABLE, Mode.STORE_AND_TIME_OUT, Mode.HOLD)) {
      transport.mode(mode);
      passSeconds(15);
    }
    transport.throwing(A.broker());
    passSeconds(15);
    transport.throwing("");
    transport.mode(Mode.CONFIRM);
    passSeconds(100);

    // The second one timed out but is stored; the third is held; the goodbye made the transport
    // throw.
    assertThat(transport.beats()).containsExactly(alive(A, ";"));
    assertThat(value(metrics, "heartbeats_published_total")).isZero();
    assertThat(sender.brokers.isAway(A.broker())).isFalse();
  }

  @Test
  void idleQueuesGetAGoodbyeWhenTheAgentStops() throws Exception {
    permitHeartbeats();
    commit(A, 0, 1);
    commit(B, 0, 1);
    send();
    answer();
    transport.mode(Mode.HOLD);
    commit(B, 1, 2);
    send();
    sender.heartbeats.leaveIdle(nowNanos);
    transport.confirmHeld();
    assertThat(transport.beats()).containsExactly(goodbye(A));
    assertThat(sender.heartbeats.awaitsAnswer(nowNanos)).isTrue();

    answer();
    assertThat(sender.heartbeats.awaitsAnswer(nowNanos)).isFalse();
    sender.heartbeats.leaveIdle(nowNanos);
    assertThat(sender.heartbeats.awaitsAnswer(nowNanos)).isTrue();
    pass(1_000);
    assertThat(sender.heartbeats.awaitsAnswer(nowNanos)).as("no answer in time").isFalse();
    transport.confirmHeld();
    sender.heartbeats.leaveIdle(nowNanos);
    assertThat(transport.beats()).containsExactly(goodbye(A), goodbye(B));
  }

  /** Each message contains, or follows, all batches from before the age that it names. */
  private void assertNothingIsMissing() {
    BatchAges ages = new BatchAges();
    Set<String> present = new HashSet<>();
    for (Kept message : transport.kept()) {
      String queue = message.queue() + " ";
      message.batches().forEach(batch -> present.add(queue + batch.sequence()));
      assertThat(ages.read(message.ages())).isTrue();
      assertThat(ages.unconfirmedMillis()).isNotNegative();
      long untilMillis = message.sentMillis() - ages.unconfirmedMillis();
      assertThat(
              committedMillis.entrySet().stream()
                  .filter(batch -> batch.getKey().startsWith(queue))
                  .filter(batch -> batch.getValue() < untilMillis)
                  .map(Map.Entry::getKey))
          .as("%s of %d", message.ages(), message.sentMillis())
          .isSubsetOf(present);
    }
  }

  /** Any outcomes, in any order, and a switch of bundles: each batch is published once. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void anyOutcomesPublishEachBatchOnce(long seed) throws Exception {
    Random random = new Random(seed);
    create(1 << 20, seed % 2 * LINGER);
    permitHeartbeats();
    List<Mode> modes = List.of(Mode.values());
    long[] next = new long[2];
    for (int step = 0; step < 300; step++) {
      int queue = random.nextInt(2);
      int more = random.nextInt(8);
      if (random.nextInt(5) == 0) {
        // The batches are not handed over yet when others are sent.
        spool.beginFrame();
        pass(random.nextInt(3));
        send();
        sender.check(nowNanos);
      }
      commit(queue == 0 ? A : B, next[queue], next[queue] + more);
      spool.endFrame();
      next[queue] += more;
      transport.mode(modes.get(random.nextInt(modes.size())));
      transport.refuseAbove(random.nextInt(10) == 0 ? 3 : Integer.MAX_VALUE);
      if (random.nextInt(20) == 0) {
        sender.bundlesUntil(random.nextBoolean() ? Long.MAX_VALUE / 2 : nowNanos);
      }
      send();
      if (random.nextInt(3) == 0) {
        transport.confirmHeld();
      }
      if (random.nextInt(3) > 0) {
        answer();
      }
      pass(random.nextInt(random.nextInt(20) == 0 ? 30_000 : 5));
      sender.check(nowNanos);
    }
    transport.mode(Mode.CONFIRM);
    transport.refuseAbove(Integer.MAX_VALUE);
    transport.confirmHeld();
    drain();

    assertEachCountsOnce();
    assertNothingIsMissing();
    assertThat(transport.messages()).anyMatch(batches -> batches > 1);
  }

  private double dropped(String reason) {
    return value(spoolMetrics, "spans_dropped_total", "reason", reason);
  }
}
