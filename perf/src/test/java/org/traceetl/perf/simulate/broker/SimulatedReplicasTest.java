package org.traceetl.perf.simulate.broker;

import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.traceetl.agent.publish.Transport;
import org.traceetl.common.Clocks;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.config.RocketMqConfig;

/** The cases against a simulated cluster with replicas. */
class SimulatedReplicasTest extends FailoverConformance {
  private Cases world;
  private Process process;

  @BeforeEach
  void start() {
    world = new Cases(17, ClusterOptions.of(1, REPLICAS, QUEUES));
    process = world.world().process("process");
  }

  private BrokerGroup group() {
    return world.cluster().group(broker());
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
    return world.cluster().transport(process, publishing("n:1"));
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

  @Override
  int master() {
    return group().master().number;
  }

  @Override
  void kill(int replica) {
    world.cluster().crash(broker(), replica);
  }

  @Override
  void start(int replica) {
    world.cluster().start(broker(), replica);
  }

  @Override
  void stop(int replica) {
    eachOther(
        replica,
        (own, other) -> {
          world.cluster().cut(own, other);
          world.cluster().cut(other, own);
        });
  }

  @Override
  void proceed(int replica) {
    eachOther(
        replica,
        (own, other) -> {
          world.cluster().join(own, other);
          world.cluster().join(other, own);
        });
  }

  private void eachOther(int number, BiConsumer<String, String> does) {
    String own = group().replicas().get(number).address;
    for (Replica replica : group().replicas()) {
      if (replica.number != number) {
        does.accept(own, replica.address);
      }
    }
  }

  @Override
  boolean isUp(int replica) {
    return group().replicas().get(replica).isUp();
  }

  @Override
  int inSync() {
    Replica master = group().master();
    return master.isMaster() ? master.inSyncReplicas() : 0;
  }
}
