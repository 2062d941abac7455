package org.traceetl.perf.simulate.broker;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.publish.RocketMqTransport;
import org.traceetl.agent.publish.Transport;
import org.traceetl.common.Clocks;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.RocketMqPrograms;

/** The cases against three replicas of RocketMQ and three controllers, as processes. */
@Tag("failover")
class ReplicatedBrokersTest extends FailoverConformance {
  private static final Path SETTINGS = Path.of("..", "deploy", "rocketmq");

  private static final List<String> OPTIONS =
      List.of(
          "-Xmx192m",
          "-XX:MaxDirectMemorySize=256m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1");

  private static final int[] starts = new int[REPLICAS];

  private static RocketMqPrograms rocketMq;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    System.setProperty("rocketmq.log.root", directory.resolve("client-log").toString());
    rocketMq =
        new RocketMqPrograms(
            directory,
            new Ports(),
            OPTIONS,
            brokerSettings(),
            new RocketMqPrograms.Replication(
                REPLICAS,
                Map.of(),
                settings("broker-replicated.conf"),
                settings("controller.conf"),
                null));
    rocketMq.start(QUEUES);
    Arrays.fill(starts, 1);
    // The cases need the replicated broker only.
    rocketMq.broker().kill();
  }

  private static Map<String, Object> brokerSettings() throws IOException {
    Map<String, Object> settings = settings("broker.conf");
    settings.put("mappedFileSizeCommitLog", 16 << 20);
    settings.put("mappedFileSizeConsumeQueue", 20 * 20_000);
    settings.put("autoCreateTopicEnable", false);
    settings.put("diskMaxUsedSpaceRatio", 95);
    return settings;
  }

  private static Map<String, Object> settings(String file) throws IOException {
    Properties settings = new Properties();
    try (Reader reader = Files.newBufferedReader(SETTINGS.resolve(file))) {
      settings.load(reader);
    }
    Map<String, Object> map = new TreeMap<>();
    settings.stringPropertyNames().forEach(key -> map.put(key, settings.getProperty(key)));
    return map;
  }

  @AfterAll
  static void stop() {
    Program.kill(rocketMq.all());
    rocketMq.close();
  }

  /** Ends the faults of a case that failed. */
  @AfterEach
  void runAll() throws Exception {
    for (int replica = 0; replica < REPLICAS; replica++) {
      if (!program(replica).isRunning()) {
        start(replica);
      } else if (program(replica).isPaused()) {
        proceed(replica);
      }
    }
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
    return RocketMqTransport.start(publishing(rocketMq.address()), "failover");
  }

  @Override
  String broker() {
    return "broker-a";
  }

  @Override
  RocketMqConfig config() {
    return new RocketMqConfig(rocketMq.address(), null, null, null, null, 1);
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
  int master() throws InterruptedException {
    return rocketMq.brokers().indexOf(rocketMq.master());
  }

  private static Program program(int replica) {
    return rocketMq.brokers().get(replica);
  }

  @Override
  void kill(int replica) {
    program(replica).kill();
  }

  @Override
  void start(int replica) throws IOException {
    program(replica).start();
    starts[replica]++;
  }

  @Override
  void stop(int replica) throws IOException, InterruptedException {
    program(replica).pause();
  }

  @Override
  void proceed(int replica) throws IOException, InterruptedException {
    program(replica).resume();
  }

  @Override
  boolean isUp(int replica) throws IOException {
    // Each run of the program adds to its log.
    return program(replica).isRunning()
        && Files.readString(program(replica).log()).split("boot success", -1).length - 1
            == starts[replica];
  }

  @Override
  int inSync() throws InterruptedException {
    return rocketMq.inSync();
  }
}
