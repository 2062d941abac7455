package org.traceetl.perf.simulate.broker;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.traceetl.agent.publish.Transport;
import org.traceetl.common.Clocks;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.config.RocketMqConfig;

/** The cases against a simulated cluster without faults. */
class SimulatedBrokerTest extends BrokerConformance {
  private Cases world;
  private Process process;

  @BeforeEach
  void start() {
    world =
        new Cases(
            17,
            new ClusterOptions(
                1,
                1,
                QUEUES,
                0,
                "trace-spans",
                journalTopic(),
                decisionsTopic(),
                true,
                false,
                Duration.ofSeconds(120),
                Duration.ofHours(72)));
    process = world.world().process("process");
  }

  @Override
  void run(Case body) throws Exception {
    world.run(body);
  }

  @Override
  void pause(long millis) throws InterruptedException {
    world.world().sleep(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  @Override
  long unixMillis() {
    return world.world().unixMillis();
  }

  @Override
  Clocks clocks() {
    return process.clocks();
  }

  @Override
  Brokers brokers() {
    return world.cluster().brokers(process);
  }

  @Override
  Transport transport() {
    return world.cluster().transport(process, EmbeddedBrokerTest.publishing("n:1", "trace-spans"));
  }

  @Override
  void stopBroker() {
    world.cluster().crash(broker());
  }

  @Override
  void startBroker() {
    world.cluster().start(broker());
  }

  /** A message takes less than this simulated time to the broker. */
  @Override
  void awaitPull(int queue, long offset) throws InterruptedException {
    pause(100);
  }

  @Override
  void loseFrom(int queue, long offset) {
    world.cluster().loseFrom(broker(), config().topic(), queue, offset);
  }

  @Override
  String broker() {
    return "broker-1";
  }

  @Override
  RocketMqConfig config() {
    return new RocketMqConfig(null, null, null, null, null, 1);
  }

  @Override
  String journalTopic() {
    return "trace-windows";
  }

  @Override
  String decisionsTopic() {
    return "trace-routing";
  }
}
