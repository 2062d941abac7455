package org.traceetl.agent.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.telemetry.MetricValues.value;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.agent.publish.MemoryTransport.Beat;
import org.traceetl.agent.publish.MemoryTransport.Kept;
import org.traceetl.agent.publish.MemoryTransport.Stored;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.BrokerQueue.Topic;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpoolMetrics;
import org.traceetl.agent.spool.TestSpool;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.proto.Demand;
import org.traceetl.proto.EdgeBatchWriter;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.SpanBatchWriter;

/** Two topics whose queues are on the same broker; only one of them can be reached. */
final class HalfEdgePublisherTest {
  private static final AgentIdentity AGENT = new AgentIdentity(7, 8, 1);
  private static final BrokerQueue SPANS = new BrokerQueue("broker-a", 0);
  private static final BrokerQueue EDGES = new BrokerQueue(Topic.EDGES, "broker-a", 0);
  private static final Map<Topic, BrokerQueue> QUEUES =
      Map.of(Topic.SPANS, SPANS, Topic.EDGES, EDGES);
  private static final int HALVES = 3;
  private static final long MOST_AGE_MILLIS = 60_000;

  @TempDir private Path directory;

  private final AtomicLong nowNanos = new AtomicLong();
  private final AtomicReference<Topology> routed = new AtomicReference<>();
  private final SpoolMetrics spoolMetrics = new SpoolMetrics();
  private final PublishMetrics metrics = new PublishMetrics();
  private MemoryTransport transport;
  private Spool spool;
  private Publisher publisher;

  @BeforeEach
  void open() throws IOException {
    open(directory);
  }

  private void open(Path itsDirectory) throws IOException {
    transport = new MemoryTransport();
    spool =
        Spool.open(
            TestSpool.config(itsDirectory),
            AGENT,
            spoolMetrics,
            TestSpool.clocks(nowNanos::get, this::unixMillis));
    publisher =
        new Publisher(
            TestPublisher.options(1 << 20, MOST_AGE_MILLIS, TimeUnit.SECONDS.toNanos(10)),
            transport,
            spool,
            run -> 0,
            new Heartbeat(7, 8, 1, false, "web3"),
            metrics,
            TestSpool.clocks(nowNanos::get, this::unixMillis),
            new SplittableRandom(1));
    publisher.routes(routed::set);
    publisher.topology(new Topology(List.of(SPANS)));
    publisher.edges(new Topology(List.of(EDGES)));
    // The test is the publisher's thread, except where it starts that.
    spool.outlet(publisher);
  }

  @AfterEach
  void close() throws IOException {
    publisher.close();
    spool.close();
  }

  private long unixMillis() {
    return TimeUnit.NANOSECONDS.toMillis(nowNanos.get());
  }

  @Test
  void batchesGoToTheQueuesOfTheirTopicUnderTheirNames() throws IOException {
    for (int sequence = 0; sequence < 4; sequence++) {
      commit(SPANS, sequence);
      commit(EDGES, sequence);
    }
    pass(10, 10);

    for (BrokerQueue queue : QUEUES.values()) {
      assertThat(stored(queue))
          .extracting(Stored::epoch, Stored::sequence)
          .containsExactly(tuple(1L, 0L), tuple(1L, 1L), tuple(1L, 2L), tuple(1L, 3L));
      assertThat(stored(queue))
          .allSatisfy(batch -> assertThat(batch.body()).isEqualTo(body(queue, batch.sequence())));
    }
    assertThat(value(metrics, "half_edges_published_total")).isEqualTo(4 * HALVES);
    assertThat(value(metrics, "spans_published_total")).isEqualTo(4);
    assertThat(value(metrics, "batches_published_total")).isEqualTo(8);
    assertThat(value(metrics, "batch_memory_bytes")).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aDeadTopicDelaysNoBatchOfTheOther(Topic dead) throws IOException {
    BrokerQueue lost = QUEUES.get(dead);
    BrokerQueue living = QUEUES.get(dead == Topic.SPANS ? Topic.EDGES : Topic.SPANS);
    transport.away(dead);
    for (int sequence = 0; sequence < 300; sequence++) {
      commit(lost, sequence);
    }
    pass(100, 30);
    for (int sequence = 0; sequence < 10; sequence++) {
      commit(living, sequence);
      // Sent, and confirmed.
      publisher.doWork();
      publisher.doWork();
      assertThat(stored(living)).hasSize(sequence + 1);
      pass(1_000, 1);
    }
    assertThat(stored(lost)).isEmpty();
    assertThat(spool.batches()).isEqualTo(300);
    assertThat(publisher.available()).isEqualTo(dead == Topic.EDGES);
    assertThat(routed.get()).isEqualTo(new Topology(List.of(SPANS)));

    transport.away((Topic) null);
    pass(10, 50);
    assertThat(stored(lost)).hasSize(300);
    assertThat(spool.batches()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aDeadTopicDoesNotChangeTheAgesOfTheOther(Topic dead, @TempDir Path other)
      throws IOException {
    BrokerQueue living = QUEUES.get(dead == Topic.SPANS ? Topic.EDGES : Topic.SPANS);
    List<String> ages = agesOf(living, () -> {});
    assertThat(ages).hasSize(10);
    close();

    nowNanos.set(0);
    open(other);
    transport.away(dead);
    assertThat(
            agesOf(
                living,
                () -> {
                  commit(QUEUES.get(dead), 0);
                  pass(1_000, 20);
                }))
        .isEqualTo(ages);
    assertThat(spool.batches()).isEqualTo(1);
  }

  private interface Step {
    void run() throws IOException;
  }

  /** Sends ten batches to a queue after a step; returns the ages of the messages. */
  private List<String> agesOf(BrokerQueue queue, Step before) throws IOException {
    pass(1_000, 5);
    before.run();
    for (int sequence = 0; sequence < 10; sequence++) {
      commit(queue, sequence);
      nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(sequence));
      publisher.doWork();
      pass(500, 4);
    }
    return transport.kept().stream()
        .filter(kept -> kept.queue().equals(queue))
        .map(Kept::ages)
        .toList();
  }

  @ParameterizedTest
  @EnumSource
  void aDrainWaitsForBothTopics(Topic dead) throws Exception {
    publisher.start();
    transport.away(dead);
    commit(SPANS, 0);
    commit(EDGES, 0);
    await().until(() -> spool.batches() == 1);
    assertThat(publisher.drain(TimeUnit.MILLISECONDS.toNanos(10))).isFalse();
    transport.away((Topic) null);
    await()
        .until(() -> {
          nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(10));
          publisher.forget(List.of());
          return spool.batches() == 0;
        });

    assertThat(publisher.drain(TimeUnit.MINUTES.toNanos(1))).isTrue();
    assertThat(transport.stored())
        .extracting(Stored::queue)
        .containsExactlyInAnyOrder(SPANS, EDGES);
  }

  @ParameterizedTest
  @CsvSource({"true, age", "false, queue_gone"})
  void halfEdgesOfAQueueOutsideTheListAreKeptToTheLastAge(boolean listed, String reason)
      throws IOException {
    publisher.edges(
        new Topology(List.of(listed ? EDGES : new BrokerQueue(Topic.EDGES, EDGES.broker(), 1))));
    transport.away(Topic.EDGES);
    commit(EDGES, 0);
    pass(1_000, (int) (MOST_AGE_MILLIS / 1_000));
    assertThat(spool.batches()).isEqualTo(1);
    pass(1_000, 2);

    assertThat(spool.batches()).isZero();
    assertThat(value(spoolMetrics, "half_edges_dropped_total", "reason", reason)).isEqualTo(HALVES);
    assertThat(value(spoolMetrics, "spans_dropped_total", "reason", reason)).isZero();
  }

  /** Batches of a list that is no longer in force still reach their queue. */
  @Test
  void halfEdgesOfAnEarlierListAreSentToItsQueues() throws IOException {
    commit(EDGES, 0);
    publisher.edges(new Topology(List.of()));
    pass(10, 5);

    assertThat(stored(EDGES)).hasSize(1);
    assertThat(spool.batches()).isZero();
  }

  @Test
  void unsentHalfEdgesAreSentByTheNextRun() throws IOException {
    transport.away(Topic.EDGES);
    commit(EDGES, 0);
    commit(SPANS, 0);
    pass(10, 5);
    close();
    open(directory);
    publisher.append(spool.takeRecovered());
    pass(10, 5);

    assertThat(transport.stored())
        .singleElement()
        .satisfies(batch -> {
          assertThat(batch.queue()).isEqualTo(EDGES);
          assertThat(batch.body()).isEqualTo(body(EDGES, 0));
        });
  }

  @Test
  void bundlesHaveBatchesOfOneTopic() throws IOException {
    publisher.bundles(demand());
    transport.away("broker-a");
    for (int sequence = 0; sequence < 5; sequence++) {
      commit(SPANS, sequence);
      commit(EDGES, sequence);
    }
    pass(1, 1);
    transport.away("");
    pass(10, 10);

    assertThat(transport.kept()).anyMatch(kept -> kept.batches().size() > 1);
    for (BrokerQueue queue : QUEUES.values()) {
      assertThat(stored(queue).stream().map(Stored::sequence).distinct())
          .containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L);
    }
    assertThat(spool.batches()).isZero();
  }

  @Test
  void aStopSaysGoodbyeToTheQueuesOfBothTopics() throws Exception {
    publisher.start();
    publisher.heartbeats(demand());
    commit(SPANS, 0);
    commit(EDGES, 0);
    assertThat(publisher.drain(TimeUnit.MINUTES.toNanos(1))).isTrue();

    assertThat(transport.beats()).extracting(Beat::queue).containsExactlyInAnyOrder(SPANS, EDGES);
    assertThat(transport.beats()).allMatch(beat -> beat.heartbeat().goodbye());
  }

  private static Demand demand() {
    Demand.Part part =
        new Demand.Part(
            0, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.BUNDLES | Demand.HEARTBEATS);
    return new Demand(1, 0, Map.of("a", part));
  }

  private List<Stored> stored(BrokerQueue queue) {
    return transport.stored().stream().filter(batch -> batch.queue().equals(queue)).toList();
  }

  /** Advances the time in steps, with the work of the publisher's thread after each. */
  private void pass(long stepMillis, int steps) {
    for (int step = 0; step < steps; step++) {
      nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(stepMillis));
      while (publisher.doWork() == 0) {
        // The tasks may have more to do.
      }
    }
  }

  private void commit(BrokerQueue queue, long sequence) throws IOException {
    Frame frame = new Frame(AGENT, spool::nowMillis);
    frame.add(queue, sequence, body(queue, sequence), queue.topic() == Topic.SPANS ? 1 : HALVES);
    spool.commit(frame);
  }

  private static byte[] body(BrokerQueue queue, long sequence) {
    byte[] name = ("batch " + sequence).getBytes(UTF_8);
    if (queue.topic() == Topic.EDGES) {
      EdgeBatchWriter edges = new EdgeBatchWriter();
      edges.begin();
      edges.head(edges.intern(name, 0, name.length), -1, 1, false, 0, -1, 0, new int[0], 0);
      for (int half = 0; half < HALVES; half++) {
        edges.waiting(half, half, half, 0);
      }
      int length = edges.finish(AGENT.high(), AGENT.low(), AGENT.epoch(), sequence);
      return Arrays.copyOf(edges.buffer(), length);
    }
    SpanBatchWriter spans = new SpanBatchWriter();
    spans.begin();
    int text = spans.intern(name, 0, name.length);
    spans.application(text);
    spans.startGroupedSpan(text, 2, 0, 1_000_000, 0);
    spans.endSpan();
    int length = spans.finish(AGENT.high(), AGENT.low(), AGENT.epoch(), sequence);
    return Arrays.copyOf(spans.buffer(), length);
  }
}
