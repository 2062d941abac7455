package org.traceetl.perf.simulate.broker;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.publish.RocketMqTransport;
import org.traceetl.agent.publish.Transport;
import org.traceetl.common.Clocks;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.testkit.TestRocketMq;

/** The cases against RocketMQ inside this JVM. */
class EmbeddedBrokerTest extends BrokerConformance {
  private static TestRocketMq rocketMq;
  private static int cases;

  private String spans;

  @BeforeAll
  static void start(@TempDir Path home) throws Exception {
    rocketMq = new TestRocketMq(home);
  }

  @AfterAll
  static void stop() {
    rocketMq.close();
  }

  @BeforeEach
  void createTopics() {
    cases++;
    spans = "spans-" + cases;
    rocketMq.createTopic(spans, QUEUES);
    rocketMq.createTopic(journalTopic(), QUEUES);
    rocketMq.createTopic(decisionsTopic(), 1);
  }

  @Override
  void run(Case body) throws Exception {
    body.run();
  }

  @Override
  void pause(long millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  @Override
  long unixMillis() {
    return System.currentTimeMillis();
  }

  @Override
  Clocks clocks() {
    return Clocks.SYSTEM;
  }

  @Override
  Brokers brokers() {
    return Brokers.ROCKETMQ;
  }

  @Override
  Transport transport() throws IOException {
    return RocketMqTransport.start(publishing(rocketMq.namesrvAddress(), spans), spans);
  }

  @Override
  void stopBroker() {
    rocketMq.stopBroker();
  }

  @Override
  void startBroker() throws Exception {
    rocketMq.startBroker();
  }

  @Override
  void loseFrom(int queue, long offset) {
    rocketMq.loseFrom(spans, queue, offset);
  }

  @Override
  void awaitPull(int queue, long offset) {
    rocketMq.awaitPull(spans, queue, offset);
  }

  static PublishConfig publishing(String nameServer, String topic) {
    return new PublishConfig(nameServer, topic, "agents", "", "", 3_000, 100, 5_000, 10_000);
  }

  @Override
  String broker() {
    return TestRocketMq.BROKER;
  }

  @Override
  RocketMqConfig config() {
    return new RocketMqConfig(rocketMq.namesrvAddress(), spans, "servers-" + spans, null, null, 1);
  }

  @Override
  String journalTopic() {
    return "journal-of-" + spans;
  }

  @Override
  String decisionsTopic() {
    return "decisions-of-" + spans;
  }
}
