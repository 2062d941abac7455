package org.traceetl.perf.simulate.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.logging.org.slf4j.LoggerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.publish.Transport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.broker.SpanConsumer;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.NoAnswerException;
import org.traceetl.server.window.QueueId;

/** Faults of brokers and network. */
class SimulatedClusterTest {
  private static final int QUEUES = 4;
  private static final String BROKER = "broker-1";
  private static final QueueId QUEUE = new QueueId(BROKER, 0);
  private static final MessageQueue SPANS = new MessageQueue("trace-spans", BROKER, 0);
  private static final RocketMqConfig CONFIG = new RocketMqConfig(null, null, null, null, null, 1);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private Cases cases;
  private SimulatedCluster cluster;

  private void install(int replicas) {
    install(23, ClusterOptions.of(1, replicas, QUEUES));
  }

  private void install(long seed, ClusterOptions options) {
    cases = new Cases(seed, options);
    cluster = cases.cluster();
  }

  private void seconds(long count) throws InterruptedException {
    cases.world().sleep(count * SECOND);
  }

  private Process process(String name) {
    return cases.world().process(name);
  }

  private JournalLog log(Process process) throws Exception {
    BrokerLogs logs =
        cluster
            .brokers(process)
            .logs(CONFIG, "trace-windows", Duration.ofSeconds(5), process.clocks());
    logs.start();
    seconds(1);
    return logs.open(QUEUE);
  }

  /** A consumer, with the queues that it was given last. */
  private final class Member {
    private final SpanConsumer consumer;
    private Set<MessageQueue> given = Set.of();

    Member(Process process) throws Exception {
      consumer =
          cluster
              .brokers(process)
              .consumers(CONFIG, process.clocks())
              .connect(0, null, 32, queues -> given = queues);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static List<String> bodies(JournalLog log) throws Exception {
    List<String> bodies = new ArrayList<>();
    List<Entry> entries = log.read(0);
    while (!entries.isEmpty()) {
      entries.forEach(entry -> bodies.add(new String(entry.body(), UTF_8)));
      entries = log.read(entries.getLast().offset() + 1);
    }
    return bodies;
  }

  /** Appends until it is confirmed; messages of other attempts may be stored, too. */
  private void append(JournalLog log, String text) throws Exception {
    long endNanos = cases.world().nanos() + 300 * SECOND;
    while (true) {
      try {
        log.append(bytes(text));
        return;
      } catch (IOException e) {
        assertThat(cases.world().nanos()).isLessThan(endNanos);
        seconds(1);
      }
    }
  }

  @Test
  void noLoggerOfRocketMqWaitsForAThreadOutsideOfTheWorld() {
    install(1);

    for (String name : List.of("RocketmqClient", "RocketmqCommon", "RocketmqRemoting", "other")) {
      assertThat(LoggerFactory.getLogger(name).isErrorEnabled()).as(name).isFalse();
    }
  }

  @Test
  void aMessageWhoseAnswerIsLostIsStored() throws Exception {
    install(1);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      cluster.misbehave(BROKER, Misbehaviour.LOST_ANSWER, 1, 0);
      assertThatThrownBy(() -> log.append(bytes("a"))).isInstanceOf(NoAnswerException.class);

      cluster.heal();

      assertThat(bodies(log)).containsExactly("a");
    });
  }

  @Test
  void aLateMessageIsStoredAfterTheTimeout() throws Exception {
    install(1);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      cluster.misbehave(BROKER, Misbehaviour.LATE_REQUEST, 1, 3_600 * SECOND);
      assertThatThrownBy(() -> log.append(bytes("a"))).isInstanceOf(NoAnswerException.class);
      cluster.heal();
      assertThat(bodies(log)).isEmpty();

      seconds(3_600);

      assertThat(bodies(log)).containsExactly("a");
    });
  }

  @Test
  void aRepeatedRequestIsStoredTwice() throws Exception {
    install(1);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      cluster.misbehave(BROKER, Misbehaviour.REPEATED_REQUEST, 1, SECOND);
      log.append(bytes("a"));
      seconds(2);

      assertThat(bodies(log)).containsExactly("a", "a");
    });
  }

  @ParameterizedTest
  @CsvSource({
    "BUSY,BROKER,0",
    "FLUSH_DISK_TIMEOUT,FLUSH_DISK_TIMEOUT,1",
    "FLUSH_SLAVE_TIMEOUT,FLUSH_SLAVE_TIMEOUT,1",
    "SLAVE_NOT_AVAILABLE,SLAVE_NOT_AVAILABLE,1",
    "LOST_REQUEST,TIMEOUT,0",
    "LOST_ANSWER,TIMEOUT,1",
  })
  void aSendReportsWhatHappenedToIt(Misbehaviour how, Transport.Failure failure, long stored)
      throws Exception {
    install(1);
    cases.run(() -> {
      Transport transport =
          cluster.transport(
              process("agent-1"), EmbeddedBrokerTest.publishing("n:1", "trace-spans"));
      seconds(1);
      cluster.misbehave(BROKER, how, 1, SECOND);
      List<Transport.Failure> failures = new ArrayList<>();

      send(transport, failures);
      seconds(10);

      assertThat(failures).containsExactly(failure);
      assertThat(cluster.group(BROKER).master().store().end()).isEqualTo(stored);
    });
  }

  private static List<String> ages(SimulatedCluster cluster) {
    List<String> ages = new ArrayList<>();
    for (Replica replica : cluster.group(BROKER).replicas()) {
      for (long place = 0; place < replica.store().end(); place++) {
        ages.add(replica.store().at(place).ages());
      }
    }
    return ages;
  }

  @Test
  void agesOutlastTheWorld() throws Exception {
    install(3);
    ByteArrayOutputStream state = new ByteArrayOutputStream();
    cases.run(() -> {
      JournalLog log = log(process("one"));
      log.append(bytes("other"));
      Transport transport =
          cluster.transport(process("agent"), EmbeddedBrokerTest.publishing("n:1", "trace-spans"));
      seconds(1);
      send(transport, new ArrayList<>());
      seconds(1);
      log.append(bytes("other"));
      seconds(10);
      cluster.write(new DataOutputStream(state));
    });

    install(3);
    cluster.read(new DataInputStream(new ByteArrayInputStream(state.toByteArray())));

    assertThat(ages(cluster))
        .containsExactly(null, "1520,-20", null, null, "1520,-20", null, null, "1520,-20", null);
  }

  private static void send(Transport transport, List<Transport.Failure> failures) {
    transport.send(
        new BrokerQueue(BROKER, 0),
        bytes("a"),
        () -> "1520,-20",
        new Transport.Answer() {
          @Override
          public void confirmed() {
            failures.add(null);
          }

          @Override
          public void failed(Transport.Failure failure, String detail) {
            failures.add(failure);
          }

          @Override
          public void refused(String detail) {
            throw new AssertionError(detail);
          }
        });
  }

  @Test
  void sendsFailAtADeadBrokerAndSucceedAfterItsStart() throws Exception {
    install(1);
    cases.run(() -> {
      Transport transport =
          cluster.transport(
              process("agent-1"), EmbeddedBrokerTest.publishing("n:1", "trace-spans"));
      seconds(1);
      List<Transport.Failure> failures = new ArrayList<>();
      cluster.crash(BROKER);
      send(transport, failures);
      seconds(60);
      assertThatThrownBy(transport::queues).isInstanceOf(IOException.class);

      cluster.start(BROKER);
      seconds(30);
      send(transport, failures);
      seconds(1);

      assertThat(failures).containsExactly(Transport.Failure.CONNECT, null);
      assertThat(transport.queues()).hasSize(QUEUES);
    });
  }

  @Test
  void aCutInOneDirectionLosesRequestsOrAnswers() throws Exception {
    install(1);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      cluster.cut("server-1", BROKER);
      assertThatThrownBy(() -> log.append(bytes("a"))).isInstanceOf(NoAnswerException.class);
      cluster.join("server-1", BROKER);
      cluster.cut(BROKER, "server-1");
      assertThatThrownBy(() -> log.append(bytes("b"))).isInstanceOf(NoAnswerException.class);
      cluster.join(BROKER, "server-1");

      assertThat(bodies(log)).containsExactly("b");
    });
  }

  @Test
  void aCrashSetsOffsetsOfTheLastSecondsBack() throws Exception {
    install(1);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      log.append(bytes("a"));
      log.append(bytes("b"));
      log.mark("sink", 1);
      seconds(6);
      log.mark("sink", 2);

      cluster.crash(BROKER);
      cluster.start(BROKER);
      seconds(5);

      assertThat(log.mark("sink")).isEqualTo(1);
      assertThat(bodies(log)).containsExactly("a", "b");
    });
  }

  @Test
  void aLossOfPowerKeepsWhatWasAnswered() throws Exception {
    install(1);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      log.append(bytes("a"));
      cluster.losePower(BROKER, 0);
      seconds(1);
      assertThatThrownBy(() -> log.append(bytes("b"))).isInstanceOf(NoAnswerException.class);
      cluster.start(BROKER);

      assertThat(bodies(log)).containsExactly("a");
      assertThat(log.append(bytes("c"))).isEqualTo(1);
    });
  }

  @Test
  void withoutFlushesALossOfPowerLosesConfirmedMessages() throws Exception {
    install(5, ClusterOptions.of(1, 1, QUEUES).with(false, false));
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      log.append(bytes("a"));
      seconds(11);
      log.append(bytes("b"));
      cluster.losePower(BROKER, 0);
      seconds(1);
      cluster.start(BROKER);
      seconds(1);

      assertThat(log.append(bytes("c"))).isEqualTo(1);
      assertThat(cluster.confirmedLosses()).isEqualTo(1);
    });
  }

  @Test
  void aMessageIsReadOnceItIsFlushed() throws Exception {
    install(1);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      cluster.losePower(BROKER, 3 * SECOND);
      cases.world().spawn("sender", () -> appendOnce("sender"));
      seconds(2);
      assertThat(bodies(log)).isEmpty();
      seconds(5);
      cluster.start(BROKER);
      seconds(30);

      assertThat(bodies(log)).containsExactly("sender");
      assertThat(cluster.confirmedLosses()).isZero();
    });
  }

  @Test
  void earlierBrokersLoseUnconfirmedMessagesThatWereRead() throws Exception {
    install(1, ClusterOptions.of(1, 1, QUEUES).with(true, true));
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      cluster.losePower(BROKER, 3 * SECOND);
      cases.world().spawn("sender", () -> assertThatThrownBy(() -> log.append(bytes("lost"))));
      seconds(2);
      assertThat(bodies(log)).containsExactly("lost");
      seconds(2);
      cluster.start(BROKER);
      seconds(1);

      assertThat(log.append(bytes("next"))).isZero();
      assertThat(cluster.confirmedLosses()).isZero();
    });
  }

  @Test
  void aReplicatedMessageIsReadBeforeItIsFlushedAndKept() throws Exception {
    install(3);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      cluster.losePower(BROKER, 3 * SECOND);
      cases.world().spawn("sender", () -> appendOnce("sender"));
      seconds(2);
      assertThat(bodies(log)).containsExactly("sender");

      seconds(60);
      assertThat(bodies(log(process("server-2")))).containsExactly("sender", "sender");
    });
  }

  @Test
  void uncommittedReadsSeeWhatAFailOverLoses() throws Exception {
    Set<Integer> confirmedLosses = new TreeSet<>();
    int replaced = 0;
    for (long seed = 0; seed < 20; seed++) {
      install(seed, ClusterOptions.of(1, 3, QUEUES).with(true, true));
      Map<Long, Set<String>> read = new TreeMap<>();
      cases.run(() -> {
        JournalLog log = log(process("server"));
        cluster.failOver(BROKER, 5);
        for (int i = 0; i < 10; i++) {
          String name = "sender-" + i;
          cases.world().spawn(name, () -> appendOnce(name));
        }
        for (long end = cases.world().nanos() + 60 * SECOND; cases.world().nanos() < end; ) {
          cases.world().sleep(SECOND / 10);
          for (Entry entry : readable(log)) {
            read.computeIfAbsent(entry.offset(), absent -> new TreeSet<>())
                .add(new String(entry.body(), UTF_8));
          }
        }
      });
      replaced += read.values().stream().anyMatch(bodies -> bodies.size() > 1) ? 1 : 0;
      confirmedLosses.add(cluster.confirmedLosses());
    }

    assertThat(replaced).isPositive();
    assertThat(confirmedLosses).containsExactly(0);
  }

  @Test
  void anElectedMasterSoonHasOnDiskWhatItCopied() throws Exception {
    for (long seed = 0; seed < 20; seed++) {
      losePowerAfterElection(seed, SECOND);

      assertThat(cluster.confirmedLosses()).isZero();
    }
  }

  @Test
  void anElectedMasterThatLosesPowerAtOnceMayLoseWhatTheLastOneConfirmed() throws Exception {
    int losses = 0;
    for (long seed = 0; seed < 20; seed++) {
      losePowerAfterElection(seed, 0);

      assertThat(cluster.unflushedLosses()).isEqualTo(cluster.confirmedLosses());
      losses += cluster.confirmedLosses();
    }

    assertThat(losses).isPositive();
  }

  /**
   * The only replica copies what was stored, and becomes the master at once. The last master then
   * confirms what it is just flushing.
   */
  private void losePowerAfterElection(long seed, long nanos) throws Exception {
    install(seed, ClusterOptions.of(1, 3, QUEUES));
    cases.run(() -> {
      log(process("server"));
      cluster.crash(BROKER, 2);
      seconds(30);
      cluster.failOver(BROKER, 0);
      for (int i = 0; i < 200; i++) {
        String name = "sender-" + i;
        long delayNanos = i * SECOND / 100;
        cases.world().after(delayNanos, () -> cases.world().spawn(name, () -> appendOnce(name)));
      }
      Replica last = cluster.group(BROKER).master();
      while (cluster.group(BROKER).master() == last) {
        cases.world().sleep(TimeUnit.MILLISECONDS.toNanos(1));
      }
      cases.world().sleep(nanos);
      cluster.losePower(BROKER, 0);
      seconds(20);
      cluster.start(BROKER);
      seconds(60);
    });
  }

  private static List<Entry> readable(JournalLog log) throws InterruptedException {
    try {
      return log.read(0);
    } catch (IOException e) {
      return List.of(); // no master
    }
  }

  @Test
  void deletedMessagesRaiseTheBegin() throws Exception {
    install(1, ClusterOptions.of(1, 1, QUEUES).keeping(Duration.ofMinutes(10)));
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      log.append(bytes("a"));
      seconds(300);
      log.append(bytes("b"));
      seconds(1);
      cluster.deleteOld(BROKER, 200 * SECOND);
      assertThat(log.begin()).isZero();

      log.mark("readers", 2);
      cluster.deleteOld(BROKER, 200 * SECOND);
      assertThat(log.begin()).isEqualTo(1);
      assertThat(log.read(0)).extracting(Entry::offset).containsExactly(1L);

      seconds(700);
      assertThat(log.begin()).isEqualTo(2);
      assertThat(log.append(bytes("c"))).isEqualTo(2);
    });
  }

  @Test
  void anAddedQueueOfHalfEdgesCanBeWrittenAndRead() throws Exception {
    install(1, ClusterOptions.of(2, 1, QUEUES).withEdgeQueues(1));
    List<String> stored = new ArrayList<>();
    cluster.observe(
        "trace-edges",
        (broker, queue, body) -> stored.add(broker + "/" + queue + " " + new String(body, UTF_8)));
    QueueId second = new QueueId(BROKER, 1);
    cases.run(() -> {
      Process process = process("server-1");
      BrokerLogs logs =
          cluster
              .brokers(process)
              .logs(CONFIG, "trace-edge-windows", Duration.ofSeconds(5), process.clocks());
      logs.start();
      seconds(1);
      assertThat(logs.queues("trace-edges")).hasSize(2);

      cluster.addEdgeQueue();

      assertThat(logs.queues("trace-edges")).hasSize(4).contains(second);
      assertThat(logs.queues()).isEqualTo(logs.queues("trace-edges"));
      assertThat(logs.queues("trace-spans")).hasSize(2 * QUEUES);
      JournalLog log = logs.open("trace-edges", second);
      log.append(bytes("a"));
      logs.open(second).append(bytes("b"));
      assertThat(bodies(log)).containsExactly("a");
      assertThat(stored).containsExactly(BROKER + "/1 a");
    });
  }

  @Test
  void aFailOverKeepsWhatWasConfirmed() throws Exception {
    for (long seed = 0; seed < 20; seed++) {
      install(seed, ClusterOptions.of(1, 3, QUEUES));
      cases.run(() -> {
        JournalLog one = log(process("server-1"));
        List<String> appended = new ArrayList<>();
        for (int round = 0; round < 4; round++) {
          cluster.failOver(BROKER, 5);
          for (int i = 0; i < 8; i++) {
            String text = round + "." + i;
            append(one, text);
            appended.add(text);
          }
          seconds(20);
        }

        assertThat(new TreeSet<>(bodies(one))).containsAll(appended);
      });
    }
  }

  @Test
  void aFailOverLosesAPartOfTheUnconfirmedMessages() throws Exception {
    List<Integer> sizes = new ArrayList<>();
    for (long seed = 0; seed < 20; seed++) {
      install(seed, ClusterOptions.of(1, 3, QUEUES));
      cases.run(() -> {
        JournalLog log = log(process("server"));
        cluster.failOver(BROKER, 5);
        for (int i = 0; i < 10; i++) {
          String name = "sender-" + i;
          cases.world().spawn(name, () -> appendOnce(name));
        }
        seconds(60);
        sizes.add(bodies(log).size());
      });
    }

    // Without an answer each of the ten is sent again; at most five of the first are lost.
    assertThat(sizes).allMatch(size -> size == 10 || size >= 15 && size <= 20);
    assertThat(sizes).anyMatch(size -> size >= 15 && size < 20);
  }

  private void appendOnce(String sender) {
    try {
      append(log(process(sender)), sender);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aSupersededMasterConfirmsNothing() throws Exception {
    install(3);
    cases.run(() -> {
      JournalLog behind = log(process("server-1"));
      behind.append(bytes("a"));
      List<String> addresses = cluster.addresses(BROKER);
      String old = addresses.getFirst();
      cluster.cut("server-1", "name-server");
      for (String node :
          List.of(addresses.get(1), addresses.get(2), "controllers", "name-server")) {
        cluster.cut(old, node);
        cluster.cut(node, old);
      }
      seconds(30);
      assertThat(cluster.addresses(BROKER).getFirst()).isNotEqualTo(old);
      JournalLog ahead = log(process("server-2"));
      append(ahead, "b");

      assertThatThrownBy(() -> behind.append(bytes("x"))).isInstanceOf(IOException.class);
      cluster.heal();
      seconds(10);

      assertThat(bodies(ahead)).containsExactly("a", "b");
    });
  }

  @Test
  void onlyTheReplicaThatIsCutFromTheControllersIsReplaced() throws Exception {
    install(3);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      log.append(bytes("a"));
      final String first = cluster.addresses(BROKER).getFirst();
      cluster.cut("replica-2", "controllers");
      seconds(30);
      assertThat(cluster.addresses(BROKER).getFirst()).isEqualTo(first);

      cluster.cut("replica-1", "controllers");
      cluster.cut("replica-1", "replica-2");
      seconds(30);
      assertThat(cluster.addresses(BROKER).getFirst()).endsWith(".3:10911");
      assertThatThrownBy(() -> log.append(bytes("x"))).isInstanceOf(IOException.class);

      cluster.heal();
      seconds(30);
      append(log, "b");
      assertThat(bodies(log)).startsWith("a").endsWith("b");
      assertThat(cluster.confirmedLosses()).isZero();
    });
  }

  @Test
  void aMasterAloneRefusesUntilAReplicaIsBack() throws Exception {
    install(3);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      cluster.crash(BROKER, 1);
      cluster.crash(BROKER, 2);
      seconds(5);
      assertThatThrownBy(() -> log.append(bytes("a")))
          .hasStackTraceContaining("in-sync replicas not enough");

      cluster.start(BROKER, 1);
      seconds(5);

      assertThat(log.append(bytes("b"))).isZero();
    });
  }

  @Test
  void aNewMasterRefusesUntilAReplicaHasConnected() throws Exception {
    install(3);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      log.append(bytes("a"));
      cluster.crash(BROKER);
      Set<String> failures = new LinkedHashSet<>();
      while (true) {
        try {
          log.append(bytes("b"));
          break;
        } catch (IOException e) {
          failures.add(e.getClass().getSimpleName());
          cases.world().sleep(SECOND / 10);
        }
      }

      assertThat(failures).containsExactly("NoAnswerException", "IOException");
    });
  }

  @Test
  void aReplicaThatLagsLeavesTheSetAndReturns() throws Exception {
    install(3);
    cases.run(() -> {
      JournalLog log = log(process("server-1"));
      Replica master = cluster.group(BROKER).master();
      cluster.lag(BROKER, 1, 3_600 * SECOND);

      append(log, "a");
      assertThat(master.inSyncReplicas()).isEqualTo(2);
      cluster.lag(BROKER, 1, 0);
      seconds(5);

      assertThat(master.inSyncReplicas()).isEqualTo(3);
    });
  }

  @Test
  void queuesOfAStoppedServerMoveAfterItsExpiry() throws Exception {
    install(1);
    cases.run(() -> {
      Process stopped = process("server-1");
      final Member one = new Member(stopped);
      Member other = new Member(process("server-2"));
      seconds(30);
      assertThat(one.given).hasSize(2);
      assertThat(other.given).hasSize(2);

      stopped.stop();
      seconds(20);
      assertThat(other.given).hasSize(2);
      seconds(60);
      assertThat(other.given).hasSize(QUEUES);
      assertThat(one.given).as("a stopped process knows of nothing").hasSize(2);

      stopped.resume();
      seconds(60);
      assertThat(one.given).hasSize(2).doesNotContainAnyElementsOf(other.given);
    });
  }

  @Test
  void twoMembersOwnAQueueWhileNoticesAreLost() throws Exception {
    install(1);
    cases.run(() -> {
      final Member one = new Member(process("server-1"));
      seconds(22);
      cluster.misbehave(BROKER, Misbehaviour.LOST_NOTICE, 1, 0);
      Member other = new Member(process("server-2"));
      seconds(4);
      assertThat(one.given).hasSize(QUEUES).containsAll(other.given);
      assertThat(other.given).hasSize(2);

      seconds(20);
      assertThat(one.given).hasSize(2).doesNotContainAnyElementsOf(other.given);
    });
  }

  private JournalLog spans(Process process) throws Exception {
    BrokerLogs logs =
        cluster
            .brokers(process)
            .logs(CONFIG, "trace-windows", Duration.ofSeconds(5), process.clocks());
    logs.start();
    return logs.open(SPANS.getTopic(), QUEUE);
  }

  @Test
  void aPullContinuesAtTheNextMasterAsResumed() throws Exception {
    install(3);
    cases.run(() -> {
      Member member = new Member(process("server-2"));
      JournalLog spans = spans(process("server-1"));
      append(spans, "a");
      seconds(5);
      assertThat(member.consumer.poll(10_000)).hasSize(1);
      assertThat(member.consumer.resumedPulls(SPANS).test(1)).isFalse();

      cluster.crash(BROKER);
      append(spans, "b");
      seconds(30);

      List<MessageExt> messages = member.consumer.poll(60_000);
      assertThat(messages).extracting(MessageExt::getQueueOffset).containsExactly(1L);
      assertThat(member.consumer.resumedPulls(SPANS).test(1)).isTrue();
    });
  }

  @Test
  void aStuckPullIsRepeatedAfterItsTimeout() throws Exception {
    install(1);
    cases.run(() -> {
      Member member = new Member(process("server-2"));
      JournalLog spans = spans(process("server-1"));
      seconds(5);
      cluster.misbehave(BROKER, Misbehaviour.STUCK_PULL, 1, 0);
      append(spans, "a");
      assertThat(member.consumer.poll(10_000)).hasSize(1);
      append(spans, "b");
      assertThat(member.consumer.poll(20_000)).isEmpty();

      cluster.heal();

      assertThat(member.consumer.poll(20_000)).hasSize(1);
      assertThat(member.consumer.resumedPulls(SPANS).test(1)).isTrue();
    });
  }

  @Test
  void aCancelledPullMayDeliverMessagesTwice() throws Exception {
    install(1);
    cases.run(() -> {
      Member member = new Member(process("server-2"));
      JournalLog spans = spans(process("server-1"));
      append(spans, "a");
      append(spans, "b");
      seconds(5);
      assertThat(member.consumer.poll(10_000)).hasSize(2);
      seconds(1);
      cluster.misbehave(BROKER, Misbehaviour.REPEATED_PULL, 1, 0);
      member.consumer.seek(SPANS, 1, null);
      assertThat(member.consumer.poll(10_000)).hasSize(1);
      seconds(1);

      append(spans, "c");
      seconds(1);

      List<MessageExt> twice = new ArrayList<>(member.consumer.poll(10_000));
      twice.addAll(member.consumer.poll(10_000));
      assertThat(twice).extracting(MessageExt::getQueueOffset).containsExactly(2L, 2L);
    });
  }

  @Test
  void theSameSeedTakesTheSameCourse() throws Exception {
    assertThat(course(7)).isEqualTo(course(7)).isNotEqualTo(course(8));
  }

  private long course(long seed) throws Exception {
    install(seed, ClusterOptions.of(2, 3, QUEUES));
    for (Misbehaviour how : Misbehaviour.values()) {
      cluster.misbehave(BROKER, how, 0.05, SECOND);
    }
    cases.run(() -> {
      Process server = process("server-1");
      Member member = new Member(server);
      JournalLog log = log(server);
      for (int i = 0; i < 50; i++) {
        append(log, "m" + i);
        member.consumer.poll(100);
        if (i % 10 == 5) {
          cluster.failOver(BROKER, 3);
          cluster.rebalance();
        }
      }
    });
    return cases.world().timeline().hash();
  }
}
