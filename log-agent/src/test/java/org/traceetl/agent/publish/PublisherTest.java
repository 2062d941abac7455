package org.traceetl.agent.publish;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.telemetry.MetricValues.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.publish.MemoryTransport.Beat;
import org.traceetl.agent.publish.MemoryTransport.Mode;
import org.traceetl.agent.publish.MemoryTransport.Stored;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpoolMetrics;
import org.traceetl.agent.spool.TestSpool;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.SpanBatchWriter;

final class PublisherTest {
  private static final BrokerQueue A = new BrokerQueue("broker-a", 0);
  private static final BrokerQueue B = new BrokerQueue("broker-b", 0);
  private static final long MOST_AGE_MILLIS = 60_000;
  private static final long REROUTE_AFTER_NANOS = TimeUnit.SECONDS.toNanos(10);

  @TempDir private Path directory;

  private final MemoryTransport transport = new MemoryTransport();
  private final AtomicLong nowNanos = new AtomicLong();
  private long wallStepMillis;
  private SpoolMetrics spoolMetrics;
  private PublishMetrics metrics;
  private Spool spool;
  private Publisher publisher;
  private AgentIdentity agent;
  private long epoch;
  private long mostBodyBytes = 1 << 20;
  private long maxBytes = 1L << 30;
  private long lingerNanos;
  private final AtomicReference<Topology> routed = new AtomicReference<>();

  @AfterEach
  void stop() throws IOException {
    publisher.close();
    spool.close();
  }

  @Test
  void oldBatchesOfARemovedQueueAreDropped() throws Exception {
    start();
    awaitDropOfOld(B, new Topology(List.of(A)));

    assertThat(dropped("queue_gone")).isEqualTo(1);
    assertThat(publisher.drain(Long.MAX_VALUE)).isTrue();
    passUntil(1_000, publisher::available);
  }

  @Test
  void oldBatchesAreDroppedAndCounted() throws Exception {
    start();
    awaitDropOfOld(A, new Topology(List.of(A)));

    assertThat(dropped("age")).isEqualTo(1);
  }

  private void awaitDropOfOld(BrokerQueue queue, Topology topology) throws IOException {
    transport.mode(Mode.UNREACHABLE);
    commit(queue, 0);
    publisher.topology(topology);
    await().until(() -> transport.attempts() > 0);
    // A minute in steps of a second would take as many polls, at least 6 s of real time.
    pass(MOST_AGE_MILLIS - 10_000);
    assertThat(spool.batches()).isEqualTo(1);
    passUntil(1_000, () -> spool.batches() == 0);
  }

  @Test
  void unreplicatedBatchesAreSentAgainUnderTheirNames() throws Exception {
    transport.mode(Mode.STORE_WITHOUT_REPLICA);
    start();
    commit(A, 0);
    passUntil(10, () -> transport.stored().size() > 5);
    assertThat(spool.batches()).isEqualTo(1);
    assertThat(publisher.available()).isTrue();

    transport.mode(Mode.CONFIRM);
    passUntil(10, () -> spool.batches() == 0);
    assertThat(transport.stored())
        .allMatch(stored -> stored.epoch() == epoch && stored.sequence() == 0);
    assertThat(failures("flush_slave_timeout")).isGreaterThanOrEqualTo(5);
  }

  @Test
  void wallClockStepDropsNothing() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    start();
    commit(A, 0);
    wallStepMillis += 1_000 * MOST_AGE_MILLIS;
    passUntilTriedAgain();
    assertThat(spool.batches()).isEqualTo(1);
    commit(A, 1);
    wallStepMillis -= 2_000 * MOST_AGE_MILLIS;
    passUntilTriedAgain();

    assertThat(spool.batches()).isEqualTo(2);
    assertThat(dropped("age")).isZero();
  }

  @Test
  void wallClockStepBetweenRunsDropsNothing() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    start();
    commit(A, 0);
    for (int run = 0; run < 3; run++) {
      stop();
      wallStepMillis += 1_000 * MOST_AGE_MILLIS;
      start();
      commit(A, 0);
      passUntilTriedAgain();
    }

    assertThat(spool.batches()).isEqualTo(4);
    assertThat(dropped("age")).isZero();
  }

  @Test
  void ageInTheEarlierRunCounts() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    start();
    commit(A, 0);
    pass(MOST_AGE_MILLIS / 2);
    commit(A, 1);
    stop();
    start();
    pass(MOST_AGE_MILLIS / 2 + 1);
    passUntilTriedAgain();

    assertThat(spool.batches()).isEqualTo(1);
    assertThat(dropped("age")).isEqualTo(1);
  }

  /** Waits until the publisher has checked for old batches and then tried to send. */
  private void passUntilTriedAgain() {
    int attempts = transport.attempts();
    passUntil(1_000, () -> transport.attempts() > attempts + 1 || spool.batches() == 0);
  }

  @Test
  void permanentlyRefusedBatchesAreDroppedAndCounted() throws Exception {
    transport.refuse(batch -> batch.sequence() == 1);
    start();
    for (int sequence = 0; sequence < 3; sequence++) {
      commit(A, sequence);
    }
    await().until(() -> spool.batches() == 0);

    assertThat(dropped("refused_by_broker")).isEqualTo(1);
    assertThat(transport.stored()).extracting(Stored::sequence).containsExactly(0L, 2L);
  }

  @Test
  void batchesOfEarlierRunsAreSentFirst() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    for (int run = 0; run < 3; run++) {
      start();
      commit(A, 0);
      commit(A, 1);
      stop();
    }
    transport.mode(Mode.HOLD);
    start();
    commit(A, 0);
    for (long expected = 1; expected <= 4; expected++) {
      int attempts = expected < 4 ? 2 : 1;
      await().until(() -> transport.held() == attempts);
      transport.confirmHeld();
    }
    await().until(() -> spool.batches() == 0);

    assertThat(transport.stored())
        .extracting(stored -> stored.epoch() + "/" + stored.sequence())
        .containsExactly("1/0", "1/1", "2/0", "2/1", "3/0", "3/1", "4/0");
    assertThat(transport.stored())
        .allMatch(stored -> Arrays.equals(stored.body(), body(stored.epoch(), stored.sequence())));
  }

  @Test
  void confirmedBatchesAreNotSentAgain() throws Exception {
    start();
    commit(A, 0);
    await().until(() -> spool.batches() == 0);
    transport.mode(Mode.UNREACHABLE);
    commit(A, 1);
    stop();
    transport.mode(Mode.CONFIRM);
    start();
    await().until(() -> spool.batches() == 0);

    assertThat(transport.stored()).extracting(Stored::sequence).containsExactly(0L, 1L);
  }

  @Test
  void aBundleInFlightAtTheStopIsSentAgainAndDrained() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    start();
    publisher.bundles(demand(0));
    for (int sequence = 0; sequence < 5; sequence++) {
      commit(A, sequence);
    }
    await().until(() -> transport.attempts() > 0);
    transport.mode(Mode.HOLD);
    passUntil(10, () -> transport.held() == 1);
    transport.confirmHeld();
    await().until(() -> transport.held() == 1);
    assertThat(spool.batches()).isEqualTo(4);
    stop();
    transport.mode(Mode.CONFIRM);
    start();
    publisher.bundles(demand(0));
    assertThat(publisher.drain(TimeUnit.MINUTES.toNanos(1))).isTrue();
    // The broker stores the bundle late.
    transport.confirmHeld();

    assertThat(transport.messages()).startsWith(1).endsWith(4);
    assertThat(transport.stored().stream().map(Stored::sequence).distinct())
        .containsExactly(0L, 1L, 2L, 3L, 4L);
    assertThat(transport.stored())
        .hasSize(9)
        .allMatch(stored -> Arrays.equals(stored.body(), body(1, stored.sequence())));
  }

  @Test
  void bundlesArePermittedWhileADemandIsRenewed() throws Exception {
    start();
    passUntil(60_000, () -> nowNanos.get() >= TimeUnit.HOURS.toNanos(1));
    long nowMillis = unixMillis();
    assertThat(sample("bundles_permitted")).isZero();
    publisher.bundles(demand(nowMillis - 60_000));
    passUntil(0, () -> sample("bundles_permitted") == 1);
    pass(14 * 60_000 - 1);
    assertThat(sample("bundles_permitted")).isEqualTo(1);
    pass(1);
    assertThat(sample("bundles_permitted")).isZero();

    publisher.bundles(demand(unixMillis()));
    passUntil(0, () -> sample("bundles_permitted") == 1);
    publisher.bundles(Demand.NONE);
    passUntil(0, () -> sample("bundles_permitted") == 0);
  }

  @Test
  void aDemandThatOnlyOlderServersLeftPermitsNoBundles() throws Exception {
    start();
    nowNanos.set(TimeUnit.HOURS.toNanos(1));
    publisher.bundles(demand(unixMillis() - 15 * 60_000));
    transport.mode(Mode.UNREACHABLE);
    commit(A, 0);
    passUntil(10, () -> transport.attempts() > 0);
    commit(A, 1);
    commit(A, 2);
    transport.mode(Mode.CONFIRM);
    passUntil(10, () -> spool.batches() == 0);

    assertThat(transport.messages()).containsExactly(1, 1, 1);
  }

  @Test
  void aStopSaysGoodbyeToEachQueueInUse() throws Exception {
    start();
    publisher.heartbeats(demand(0));
    commit(A, 0);
    commit(B, 0);
    assertThat(publisher.drain(TimeUnit.MINUTES.toNanos(1))).isTrue();

    Heartbeat goodbye = new Heartbeat(7, 8, epoch, true, "web3");
    assertThat(transport.beats())
        .containsExactlyInAnyOrder(new Beat(A, goodbye, ";"), new Beat(B, goodbye, ";"));
    assertThat(transport.kept().getFirst().batches()).isNotEmpty();
    assertThat(sample("heartbeats_published_total")).isEqualTo(2);
  }

  @Test
  void aStopWithUnconfirmedBatchesSaysNoGoodbye() throws Exception {
    start();
    publisher.heartbeats(demand(0));
    transport.mode(Mode.UNREACHABLE);
    commit(A, 0);
    assertThat(publisher.drain(TimeUnit.MILLISECONDS.toNanos(10))).isFalse();
    stop();
    transport.mode(Mode.CONFIRM);
    start();

    assertThat(transport.beats()).isEmpty();
  }

  @Test
  void aStopDoesNotWaitForLongForTheAnswersToGoodbyes() throws Exception {
    start();
    publisher.heartbeats(demand(0));
    commit(A, 0);
    await().until(() -> spool.batches() == 0);
    transport.mode(Mode.HOLD);
    CompletableFuture<Boolean> drained =
        CompletableFuture.supplyAsync(() -> {
          try {
            return publisher.drain(Long.MAX_VALUE);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
    await().until(() -> transport.held() == 1);
    assertThat(drained).isNotDone();
    passUntil(1_000, drained::isDone);

    assertThat(drained.join()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"0, true, 1", "899999, true, 1", "900000, true, 0", "0, false, 0"})
  void heartbeatsNeedANewDemandOfAllServers(long ageMillis, boolean all, int goodbyes)
      throws Exception {
    nowNanos.set(TimeUnit.HOURS.toNanos(1));
    start();
    Demand demand = demand(unixMillis() - ageMillis);
    Demand.Part part = demand.parts().get("a");
    publisher.heartbeats(
        new Demand(1, demand.decidedMillis(), Map.of("a", part, "b", all ? part : onlyBundles())));
    commit(A, 0);
    assertThat(publisher.drain(Long.MAX_VALUE)).isTrue();

    assertThat(transport.beats()).hasSize(goodbyes);
  }

  private static Demand.Part onlyBundles() {
    return new Demand.Part(0, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.BUNDLES);
  }

  @Test
  void aStopDoesNotWaitForMoreBatchesOfABundle() throws Exception {
    lingerNanos = TimeUnit.SECONDS.toNanos(1);
    start();
    publisher.bundles(demand(0));
    commit(A, 0);
    commit(A, 1);
    passUntil(100, () -> spool.batches() == 0);
    assertThat(nowNanos.get()).isGreaterThanOrEqualTo(lingerNanos);
    assertThat(transport.messages()).containsExactly(2);
    commit(A, 2);
    commit(A, 3);

    assertThat(publisher.drain(TimeUnit.MINUTES.toNanos(1))).isTrue();
    assertThat(transport.messages()).containsExactly(2, 2);
  }

  @Test
  void unreachableBrokerBlocksNoOtherAndUsesNoMemory() throws Exception {
    mostBodyBytes = 100;
    transport.away("broker-b");
    start();
    List<Long> expected = new ArrayList<>();
    for (long sequence = 0; sequence < 500; sequence++) {
      commit(B, sequence);
      commit(A, sequence);
      expected.add(sequence);
    }
    passUntil(
        10,
        () ->
            transport.stored().size() == 500 && !publisher.available()
                || transport.stored().size() == 500 && memory() == 0);
    assertThat(transport.stored()).extracting(Stored::sequence).containsExactlyElementsOf(expected);
    assertThat(spool.batches()).isEqualTo(500);

    transport.away("");
    passUntil(10, () -> spool.batches() == 0);
    assertThat(transport.stored()).hasSize(1_000);
    assertThat(memory()).isZero();
  }

  @Test
  void newSpansAvoidAnUnreachableBroker() throws Exception {
    Topology both = new Topology(List.of(A, B));
    transport.away("broker-b");
    start();
    publisher.topology(both);
    commit(B, 0);
    await().until(() -> both.equals(routed.get()));
    passUntil(1_000, () -> new Topology(List.of(A)).equals(routed.get()));
    assertThat(nowNanos.get()).isGreaterThanOrEqualTo(REROUTE_AFTER_NANOS);
    assertThat(sample("brokers_left")).isEqualTo(1);
    assertThat(spool.batches()).isEqualTo(1);

    transport.away("");
    passUntil(1_000, () -> both.equals(routed.get()));
    assertThat(transport.stored()).extracting(Stored::queue).containsExactly(B);
    assertThat(sample("brokers_left")).isZero();
  }

  @Test
  void newSpansAvoidABrokerOverItsShareOfTheSpool() throws Exception {
    Topology both = new Topology(List.of(A, B));
    maxBytes = 8 << 20;
    mostBodyBytes = 0;
    transport.mode(Mode.STORE_WITHOUT_REPLICA);
    start();
    publisher.topology(both);
    for (long sequence = 0; sequence < 43; sequence++) {
      TestSpool.commit(spool, agent, spool::nowMillis, B, sequence, new byte[100_000]);
    }
    passUntil(1_000, () -> new Topology(List.of(A)).equals(routed.get()));

    transport.mode(Mode.CONFIRM);
    passUntil(1_000, () -> spool.batches() == 0 && both.equals(routed.get()));
  }

  @Test
  void failingTransportOfOneBrokerBlocksNoOther() throws Exception {
    transport.throwing("broker-b");
    start();
    for (int queue = 0; queue < 8; queue++) {
      for (long sequence = 0; sequence < 300; sequence++) {
        commit(new BrokerQueue("broker-b", queue), sequence);
      }
    }
    commit(A, 0);
    await().until(() -> transport.stored().size() == 1 && spool.batches() == 2_400);

    transport.throwing("");
    passUntil(10, () -> spool.batches() == 0);
    assertThat(transport.stored()).hasSize(2_401);
  }

  @Test
  void damagedBatchesAreDroppedAndTheOthersSent() throws Exception {
    transport.mode(Mode.UNREACHABLE);
    mostBodyBytes = 0;
    start();
    for (int sequence = 0; sequence < 3; sequence++) {
      commit(A, sequence);
    }
    damage(name(epoch, 1));
    transport.mode(Mode.CONFIRM);
    passUntil(10, () -> spool.batches() == 0);

    assertThat(transport.stored()).extracting(Stored::sequence).containsExactly(0L, 2L);
    assertThat(dropped("damaged")).isEqualTo(1);
    assertThat(memory()).isZero();
  }

  private void damage(String name) throws IOException {
    Path segment = directory.resolve("0000000001.seg");
    String bytes = Files.readString(segment, ISO_8859_1);
    Files.writeString(segment, bytes.replace(name, name.toUpperCase(Locale.ROOT)), ISO_8859_1);
  }

  @Test
  void nothingIsSentAfterTheClose() throws Exception {
    start();
    publisher.close();
    commit(A, 0);

    assertThat(transport.attempts()).isZero();
    assertThat(spool.batches()).isEqualTo(1);
  }

  private static Demand demand(long decidedMillis) {
    Demand.Part part =
        new Demand.Part(
            decidedMillis,
            1,
            false,
            1,
            List.of(),
            List.of(),
            0,
            List.of(),
            Demand.BUNDLES | Demand.HEARTBEATS);
    return new Demand(1, decidedMillis, Map.of("a", part));
  }

  private void start() throws IOException {
    agent = new AgentIdentity(7, 8, ++epoch);
    spoolMetrics = new SpoolMetrics();
    metrics = new PublishMetrics();
    spool =
        Spool.open(
            TestSpool.config(directory, maxBytes, WhenFull.REFUSE),
            agent,
            spoolMetrics,
            TestSpool.clocks(nowNanos::get, this::unixMillis));
    publisher =
        new Publisher(
            TestPublisher.withLinger(
                TestPublisher.options(mostBodyBytes, MOST_AGE_MILLIS, REROUTE_AFTER_NANOS),
                lingerNanos),
            transport,
            spool,
            run -> 0,
            new Heartbeat(7, 8, epoch, false, "web3"),
            metrics,
            TestSpool.clocks(nowNanos::get, this::unixMillis),
            new SplittableRandom(epoch));
    publisher.routes(routed::set);
    publisher.start();
  }

  private long unixMillis() {
    return wallStepMillis + TimeUnit.NANOSECONDS.toMillis(nowNanos.get());
  }

  private void commit(BrokerQueue queue, long sequence) throws IOException {
    TestSpool.commit(spool, agent, spool::nowMillis, queue, sequence, body(epoch, sequence));
  }

  private static String name(long epoch, long sequence) {
    return "batch " + sequence + " of run " + epoch;
  }

  private static byte[] body(long epoch, long sequence) {
    SpanBatchWriter batch = new SpanBatchWriter();
    batch.begin();
    byte[] name = name(epoch, sequence).getBytes(UTF_8);
    int text = batch.intern(name, 0, name.length);
    batch.application(text);
    batch.startGroupedSpan(text, 2, 0, 1_000_000, 0);
    batch.endSpan();
    int length = batch.finish(7, 8, epoch, sequence);
    return Arrays.copyOf(batch.buffer(), length);
  }

  /** Advances the time in steps until the condition is met. */
  private void passUntil(long stepMillis, Callable<Boolean> condition) {
    await()
        .until(() -> {
          pass(stepMillis);
          return condition.call();
        });
  }

  /** Advances the time, and wakes the publisher. */
  private void pass(long millis) {
    nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    publisher.forget(List.of());
  }

  private double memory() {
    return sample("batch_memory_bytes");
  }

  private double sample(String name) {
    return value(metrics, name);
  }

  private double failures(String kind) {
    return value(metrics, "send_failures_total", "kind", kind);
  }

  private double dropped(String reason) {
    return value(spoolMetrics, "spans_dropped_total", "reason", reason);
  }
}
