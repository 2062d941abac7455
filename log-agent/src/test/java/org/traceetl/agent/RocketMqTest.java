package org.traceetl.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.AgentPage.get;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.config.RoutingConfig;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.TelemetryConfig;
import org.traceetl.agent.publish.DecisionsWatch;
import org.traceetl.agent.publish.DecisionsWatch.Place;
import org.traceetl.agent.publish.PublishMetrics;
import org.traceetl.agent.publish.Publisher;
import org.traceetl.agent.publish.RocketMqTransport;
import org.traceetl.agent.publish.TestPublisher;
import org.traceetl.agent.publish.Transport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpoolMetrics;
import org.traceetl.agent.spool.TestSpool;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.proto.Demand;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.RecordFormat;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.testkit.TestRocketMq;

/** Tests the agent with a real RocketMQ. */
final class RocketMqTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int QUEUES = 4;

  @TempDir private static Path directory;
  private static TestRocketMq broker;

  @BeforeAll
  static void startBroker() throws Exception {
    broker = new TestRocketMq(directory.resolve("rocketmq"));
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
  }

  @Test
  void missingTopicIsNamedWithTheCommandToCreateIt() throws IOException {
    try (RocketMqTransport transport = RocketMqTransport.start(config("not-there"), "missing")) {
      assertThatThrownBy(transport::queues)
          .isInstanceOf(IOException.class)
          .hasMessage(
              "Topic not-there does not exist at name server "
                  + broker.namesrvAddress()
                  + ", or its brokers are away: start them, or create it with:"
                  + " mqadmin updateTopic -n "
                  + broker.namesrvAddress()
                  + " -c DefaultCluster -t not-there -r 16 -w 16");
    }
  }

  @Test
  void theNewestDecisionsOfTheTopicAreRead() throws Exception {
    try (RocketMqTransport transport = RocketMqTransport.start(config("decided"), "decisions")) {
      assertThat(transport.newest("no-decisions", Place.NONE).place()).isEqualTo(Place.NONE);

      broker.createTopic("decisions", 1);
      await()
          .atMost(LONG)
          .untilAsserted(
              () -> assertThat(transport.newest("decisions", Place.NONE).place().end()).isZero());
      for (int i = 0; i < 40; i++) {
        broker.send("decisions", 0, new byte[] {(byte) i});
      }
      await()
          .atMost(LONG)
          .untilAsserted(() ->
              assertThat(transport.newest("decisions", Place.NONE).place().end()).isEqualTo(40));
      DecisionsWatch.Newest newest = transport.newest("decisions", Place.NONE);
      assertThat(newest.records()).hasSize(32);
      assertThat(newest.records().getLast()).containsExactly(39);
      assertThat(transport.newest("decisions", newest.place()).records()).isEmpty();
      assertThat(transport.newest("decisions", new Place("another", 40)).records()).hasSize(32);
    }
  }

  @Test
  void tooLongMessagesOfTheDecisionsTopicAreDiscarded() throws Exception {
    try (RocketMqTransport transport = RocketMqTransport.start(config("decided"), "too-long")) {
      broker.createTopic("too-long", 1);
      int longest =
          Stream.of(HotspotDecisions.FORMAT, LearntNames.FORMAT, Demand.FORMAT)
              .mapToInt(RecordFormat::maxBytes)
              .max()
              .orElseThrow();
      byte[] tooLong = new byte[longest + 1];
      new Random(1).nextBytes(tooLong); // random bytes: others would arrive compressed
      broker.send("too-long", 0, tooLong);
      broker.send("too-long", 0, new byte[] {1, 2});
      await()
          .atMost(LONG)
          .untilAsserted(() ->
              assertThat(transport.newest("too-long", Place.NONE).records())
                  .containsExactly(new byte[0], new byte[] {1, 2}));
    }
  }

  @Test
  void agesAreStatedNotWhenAMessageIsGivenButWhenItLeaves() throws Exception {
    broker.createTopic("ages", 1);
    try (RocketMqTransport transport = RocketMqTransport.start(config("ages"), "ages")) {
      await().atMost(LONG).ignoreExceptions().until(() -> transport.queues().size() == 1);
      CountDownLatch given = new CountDownLatch(1);
      CompletableFuture<Boolean> left = new CompletableFuture<>();
      CompletableFuture<String> outcome = new CompletableFuture<>();

      transport.send(
          new BrokerQueue(TestRocketMq.BROKER, 0),
          "batch".getBytes(UTF_8),
          () -> {
            left.complete(isOpen(given));
            return "1";
          },
          answerTo(outcome));
      given.countDown();

      assertThat(outcome).succeedsWithin(LONG).isEqualTo("confirmed");
      assertThat(left).isCompletedWithValue(true);
    }
  }

  /** Waits for the latch; returns false if it does not open. */
  private static boolean isOpen(CountDownLatch latch) {
    try {
      return latch.await(LONG.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static Transport.Answer answerTo(CompletableFuture<String> outcome) {
    return new Transport.Answer() {
      @Override
      public void confirmed() {
        outcome.complete("confirmed");
      }

      @Override
      public void failed(Transport.Failure failure, String detail) {
        outcome.complete(detail);
      }

      @Override
      public void refused(String detail) {
        outcome.complete(detail);
      }
    };
  }

  @Test
  void batchesOfAnOutageArriveAfterIt() throws Exception {
    String topic = "outage";
    broker.createTopic(topic, QUEUES);
    AgentIdentity agent = new AgentIdentity(1, 2, 3);
    try (RocketMqTransport transport = RocketMqTransport.start(config(topic), "outage");
        Spool spool = TestSpool.open(directory.resolve("outage-spool"), agent, new SpoolMetrics());
        Publisher publisher =
            TestPublisher.create(transport, spool, 1 << 20, new PublishMetrics())) {
      publisher.start();
      await().atMost(LONG).ignoreExceptions().until(() -> transport.queues().size() == QUEUES);
      Topology topology = new Topology(transport.queues());
      publisher.topology(topology);

      commit(spool, agent, topology, 0, 40);
      await().atMost(LONG).until(() -> spool.batches() == 0);

      broker.stopBroker();
      commit(spool, agent, topology, 40, 60);
      await().atMost(LONG).until(() -> !publisher.available());
      broker.startBroker();

      await().atMost(LONG).until(() -> spool.batches() == 0);
      assertThat(publisher.available()).isTrue();
      assertThat(new HashSet<>(broker.bodies(topic, QUEUES))).hasSize(60);
    }
  }

  @Test
  void runningAgentPublishesLinesOfAFile() throws Exception {
    String topic = "agent";
    Path log = directory.resolve("trace.log");
    RunningAgent agent = RunningAgent.start(agentConfig(topic, log), Platform.SYSTEM);
    try {
      assertThat(get(agent, "/health").statusCode()).isEqualTo(503);
      broker.createTopic(topic, QUEUES);
      await().atMost(LONG).until(() -> agent.problem().isEmpty());
      assertThat(get(agent, "/health").statusCode()).isEqualTo(200);

      for (int i = 1; i <= 100; i++) {
        Files.writeString(log, line(i), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      }
      await().atMost(LONG).until(() -> spans(topic) == 100);
      await()
          .atMost(LONG)
          .until(() ->
              get(agent, "/metrics")
                  .body()
                  .contains("trace_etl_agent_spans_published_total 100.0"));
      assertThat(agent.otlpGrpcPort().orElseThrow()).isPositive();
      assertThat(agent.otlpHttpPort().orElseThrow()).isPositive();
    } finally {
      assertThat(agent.drain(LONG)).isTrue();
    }
    // The start succeeds only if all ports and the state directory are free.
    RunningAgent.start(agentConfig(topic, log), Platform.SYSTEM).close();
    assertThat(spans(topic)).isEqualTo(100);
  }

  @Test
  void spansAcceptedWithoutABrokerArePublishedLater() throws Exception {
    String topic = "restart";
    Path log = directory.resolve("restart.log");
    broker.createTopic(topic, QUEUES);
    try (RunningAgent first = RunningAgent.start(agentConfig(topic, log), Platform.SYSTEM)) {
      await().atMost(LONG).until(() -> first.problem().isEmpty());
    }
    broker.stopBroker();
    Files.writeString(log, line(1) + line(2));
    RunningAgent second = RunningAgent.start(agentConfig(topic, log), Platform.SYSTEM);
    await().atMost(LONG).until(() -> second.problem().isEmpty());
    await().atMost(LONG).until(() -> metric(second, "spool_spans 2.0"));
    assertThat(second.drain(Duration.ZERO)).isFalse();

    broker.startBroker();
    RunningAgent third = RunningAgent.start(agentConfig(topic, log), Platform.SYSTEM);
    try {
      await().atMost(LONG).until(() -> metric(third, "spans_published_total 2.0"));
      assertThat(spans(topic)).isEqualTo(2);
      assertThat(metric(third, "spans_recovered_total 2.0")).isTrue();
    } finally {
      assertThat(third.drain(LONG)).isTrue();
    }
  }

  @Test
  void secondDrainReturnsTheFirstResult() throws Exception {
    RunningAgent agent =
        RunningAgent.start(agentConfig("none", directory.resolve("none.log")), Platform.SYSTEM);
    // The publisher has no time to report that nothing is left.
    boolean confirmed = agent.drain(Duration.ZERO);

    assertThat(agent.drain(LONG)).isEqualTo(confirmed);
    agent.close();
  }

  private static void commit(Spool spool, AgentIdentity agent, Topology topology, int from, int to)
      throws IOException {
    List<BrokerQueue> queues = topology.queues();
    for (int i = from; i < to; i++) {
      BrokerQueue queue = queues.get(i % queues.size());
      byte[] body = ("batch " + i).getBytes(UTF_8);
      TestSpool.commit(spool, agent, System::currentTimeMillis, queue, i / queues.size(), body);
    }
  }

  private static int spans(String topic) throws Exception {
    int spans = 0;
    for (byte[] message : broker.messages(topic, QUEUES)) {
      SpanBatchReader reader = new SpanBatchReader();
      assertThat(reader.wrap(message, 0, message.length)).isEqualTo(Rejection.NONE);
      spans += reader.spanCount();
    }
    return spans;
  }

  private static boolean metric(RunningAgent agent, String nameAndValue)
      throws IOException, InterruptedException {
    return get(agent, "/metrics").body().contains("\ntrace_etl_agent_" + nameAndValue + "\n");
  }

  private static String line(int number) {
    return "2026-11-21 10:00:00.000 ||| 1795255028312000000 ### 1500000 ### 10.0.0.7 ### checkout"
        + " ### GET /"
        + number % 3
        + " ### UNSET ### 0af7651916cd43dd8448eb211c80319c ### "
        + String.format("%016x", number)
        + " ### [] ### [] ### {\"serviceName\":\"checkout\",\"tags\":[]} ### [] ### \n";
  }

  private static AgentConfig agentConfig(String topic, Path log) {
    Path state = directory.resolve("state");
    return new AgentConfig(
        state,
        10_000,
        new OtlpConfig(true, "127.0.0.1", 0, 0, 16 << 20),
        new FilesConfig(List.of(log.toString()), 20, 1 << 20),
        new RingConfig(
            true, directory.resolve("rings"), Optional.empty(), 16, 1 << 30, 16 * 1024 * 1024),
        PipelineConfig.defaults(),
        SpoolConfig.defaults(state),
        RoutingConfig.defaults(),
        Optional.empty(),
        DetailConfig.defaults(),
        config(topic),
        new TelemetryConfig(true, "127.0.0.1", 0));
  }

  private static PublishConfig config(String topic) {
    return new PublishConfig(
        broker.namesrvAddress(), topic, "log-agent", "", "", 3_000, 50, 500, 1_000);
  }
}
