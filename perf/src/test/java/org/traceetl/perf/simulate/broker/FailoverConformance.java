package org.traceetl.perf.simulate.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.publish.Transport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.NoAnswerException;

/**
 * What agents and servers rely on when a master with two replicas fails, of real brokers and of
 * simulated ones, as docs/install.md recommends them. Each case uses a queue of its own.
 */
abstract class FailoverConformance extends BrokerCases {
  static final int REPLICAS = 3;

  /** Of the topics of spans and journal; at least one for each case. */
  static final int QUEUES = 8;

  private static final String CONFIRMED = "confirmed";
  private static final String REFUSED = "refused";
  private static final String NO_ANSWER = "no answer";
  private static final int MESSAGES = 20;

  /** Returns the number of the last master, from 0. */
  abstract int master() throws Exception;

  /** Kills a replica as {@code kill -9} does. */
  abstract void kill(int replica) throws Exception;

  /** Starts a killed replica. */
  abstract void start(int replica) throws Exception;

  /** Returns whether a replica runs and its start is complete. */
  abstract boolean isUp(int replica) throws Exception;

  /** Stops a replica's process: its connections to other replicas stay open and silent. */
  abstract void stop(int replica) throws Exception;

  /** Lets a stopped replica continue. */
  abstract void proceed(int replica) throws Exception;

  /** Returns the number of replicas in sync with a master that runs, including it; 0 without. */
  abstract int inSync() throws Exception;

  /** Returns the configuration of an agent that waits longer than a broker waits for replicas. */
  final PublishConfig publishing(String nameServer) {
    return new PublishConfig(
        nameServer, config().topic(), "agents", "", "", 10_000, 100, 5_000, 2_000);
  }

  /** A case of the logs of an installation with all replicas in sync. */
  @FunctionalInterface
  private interface LogsCase {
    void run(BrokerLogs logs) throws Exception;
  }

  private void onLogs(LogsCase body) throws Exception {
    run(() -> {
      awaitInSync(REPLICAS);
      try (BrokerLogs logs = logs()) {
        body.run(logs);
      }
    });
  }

  private void awaitInSync(int replicas) throws Exception {
    await(() -> inSync() == replicas);
  }

  /** Returns the replicas that are not the master. */
  private List<Integer> others() throws Exception {
    List<Integer> others = new ArrayList<>();
    int master = master();
    for (int replica = 0; replica < REPLICAS; replica++) {
      if (replica != master) {
        others.add(replica);
      }
    }
    return others;
  }

  /** Messages of a log: which were attempted, and which were confirmed at which offset. */
  private final class Appends {
    private final JournalLog log;
    private final Map<Long, String> confirmed = new TreeMap<>();
    private int attempts;

    Appends(JournalLog log) {
      this.log = log;
    }

    /** Makes one attempt; returns its outcome. */
    String once() throws Exception {
      String text = "m" + attempts++;
      try {
        confirmed.put(log.append(bytes(text)), text);
        return CONFIRMED;
      } catch (NoAnswerException e) {
        return NO_ANSWER;
      } catch (IOException e) {
        return REFUSED;
      }
    }

    /** Makes attempts until this outcome; returns the outcomes without repetitions. */
    List<String> until(String outcome) throws Exception {
      List<String> outcomes = new ArrayList<>();
      await(() -> add(outcomes, once()).equals(outcome));
      return outcomes;
    }

    long end() {
      return Collections.max(confirmed.keySet()) + 1;
    }

    /** Waits until the log has all that was confirmed, and compares. */
    void check() throws Exception {
      awaitEnd(log, end());
      Map<Long, String> stored = new TreeMap<>();
      List<Entry> entries = log.read(0);
      while (!entries.isEmpty()) {
        entries.forEach(entry -> stored.put(entry.offset(), new String(entry.body(), UTF_8)));
        entries = log.read(entries.getLast().offset() + 1);
      }
      assertThat(stored).containsAllEntriesOf(confirmed).hasSize(Math.toIntExact(end()));
      // What was not confirmed may be there, once.
      assertThat(stored.values()).doesNotHaveDuplicates();
    }
  }

  private static String add(List<String> outcomes, String outcome) {
    if (outcomes.isEmpty() || !outcomes.getLast().equals(outcome)) {
      outcomes.add(outcome);
    }
    return outcome;
  }

  // Logs

  @Test
  void confirmedMessagesSurviveTheDeathOfTheMaster() throws Exception {
    onLogs(logs -> {
      Appends appends = new Appends(logs.open(id(0)));
      for (int i = 0; i < MESSAGES; i++) {
        assertThat(appends.once()).isEqualTo(CONFIRMED);
      }
      JournalLog idle = logs.open(id(0));
      awaitEnd(idle, MESSAGES);

      int old = master();
      kill(old);

      assertThat(appends.once()).isEqualTo(NO_ANSWER);
      // A new master is alone until a replica has connected to it.
      assertThat(appends.until(CONFIRMED)).isSubsetOf(NO_ANSWER, REFUSED, CONFIRMED);
      appends.check();
      // The stale address costs one call: it fails, and the next one goes to the new master.
      assertThatThrownBy(idle::end).isInstanceOf(NoAnswerException.class);
      assertThat(idle.end()).isEqualTo(appends.end());
      start(old);
    });
  }

  @Test
  void theOldMasterReturnsAsAReplicaAndLeadsAgain() throws Exception {
    onLogs(logs -> {
      Appends appends = new Appends(logs.open(id(1)));
      int first = master();
      appends.until(CONFIRMED);
      kill(first);
      appends.until(CONFIRMED);
      int second = master();
      assertThat(second).isNotEqualTo(first);
      start(first);
      awaitInSync(REPLICAS);
      assertThat(master()).isEqualTo(second);
      appends.until(CONFIRMED);

      int third = REPLICAS - first - second;
      kill(third);
      awaitInSync(2);
      appends.until(CONFIRMED);
      kill(second);
      // Alone, the next master refuses.
      assertThat(appends.until(REFUSED)).containsExactly(NO_ANSWER, REFUSED);
      assertThat(master()).isEqualTo(first);
      start(second);

      appends.until(CONFIRMED);
      appends.check();
      start(third);
    });
  }

  // Consumers

  @Test
  void aPullContinuesAtTheSameOffsetOfTheNewMaster() throws Exception {
    onLogs(logs -> {
      try (Member member = new Member(0)) {
        member.awaitQueues(QUEUES);
        Appends appends = new Appends(logs.open(config().topic(), id(2)));
        for (int i = 0; i < MESSAGES; i++) {
          appends.once();
        }
        List<Long> polled = new ArrayList<>();
        await(() -> pollTo(member, polled) == MESSAGES);
        BrokerOffsets offsets = member.consumer.offsets();
        offsets.commit(queue(2), 7);
        offsets.commit(queue(2), 12);

        int old = master();
        kill(old);
        appends.until(CONFIRMED);

        long end = appends.end();
        await(() -> pollTo(member, polled) >= end);
        assertThat(polled).isEqualTo(LongStream.range(0, end).boxed().toList());
        await(() -> end(offsets) == end);
        // Replicas copy the group's offsets at an interval; without any, the group is at the begin.
        assertThat(offsets.committed(queue(2))).isIn(0L, 7L, 12L);
        offsets.commit(queue(2), end);
        assertThat(offsets.committed(queue(2))).isEqualTo(end);
        appends.check();
        start(old);
      }
    });
  }

  /** Polls once; returns the offset after the last message of the queue. */
  private static long pollTo(Member member, List<Long> offsets) {
    for (MessageExt message : member.consumer.poll(100)) {
      if (message.getQueueId() == 2) {
        offsets.add(message.getQueueOffset());
      }
    }
    return offsets.isEmpty() ? 0 : offsets.getLast() + 1;
  }

  /** Returns the end of the queue; -1 if the master does not answer. */
  private long end(BrokerOffsets offsets) {
    try {
      return offsets.max(queue(2));
    } catch (MQClientException e) {
      return -1;
    }
  }

  // Transports

  /** A case of a transport that has sent to a queue. */
  @FunctionalInterface
  private interface SenderCase {
    void run(Sender sender, BrokerLogs logs) throws Exception;
  }

  private void onSender(int queue, SenderCase body) throws Exception {
    onLogs(logs -> {
      try (Transport transport = transport()) {
        Sender sender = new Sender(transport, queue);
        sender.untilConfirmed();
        body.run(sender, logs);
      }
    });
  }

  /** Sends batches to a queue. */
  private final class Sender {
    private final Transport transport;
    private final int queue;
    private int attempts;

    Sender(Transport transport, int queue) {
      this.transport = transport;
      this.queue = queue;
    }

    Outcomes start() {
      Outcomes outcomes = new Outcomes();
      transport.send(
          new BrokerQueue(broker(), queue), bytes("b" + attempts++), () -> "0", outcomes);
      return outcomes;
    }

    String once() throws Exception {
      return outcome(start());
    }

    /** Sends until the broker confirms; returns the outcomes without repetitions. */
    List<String> untilConfirmed() throws Exception {
      List<String> outcomes = new ArrayList<>();
      await(() -> add(outcomes, once()).equals(CONFIRMED));
      return outcomes;
    }
  }

  private String outcome(Outcomes outcomes) throws Exception {
    await(() -> !outcomes.all.isEmpty());
    return outcomes.all.getFirst();
  }

  @Test
  void sendsFailDuringAFailoverAndAreConfirmedAfterwards() throws Exception {
    onSender(
        3,
        (sender, logs) -> {
          JournalLog spans = logs.open(config().topic(), id(3));
          long before = spans.end();
          int silent = others().getFirst();
          stop(silent);
          Outcomes waiting = sender.start();

          int old = master();
          kill(old);

          assertThat(outcome(waiting)).isEqualTo("CLIENT");
          proceed(silent);
          assertThat(sender.untilConfirmed())
              .startsWith("CONNECT")
              .isSubsetOf("CONNECT", "CLIENT", "BROKER", CONFIRMED);
          // The batch that waited for the silent replica may be there.
          await(() -> answered(spans) > before);
          assertThat(spans.end()).isBetween(before + 1, before + 2);
          start(old);
        });
  }

  private static long answered(JournalLog log) throws InterruptedException {
    try {
      return log.end();
    } catch (IOException e) {
      return -1;
    }
  }

  @Test
  void aSilentReplicaDelaysSendsUntilItLeavesTheSet() throws Exception {
    onSender(
        4,
        (sender, logs) -> {
          int silent = others().getFirst();
          stop(silent);

          assertThat(sender.untilConfirmed()).containsExactly("FLUSH_SLAVE_TIMEOUT", CONFIRMED);
          assertThat(inSync()).isEqualTo(2);

          proceed(silent);
          awaitInSync(REPLICAS);
          assertThat(sender.once()).isEqualTo(CONFIRMED);
        });
  }

  @Test
  void replicasThatLeftTheSetDoNotReplaceTheMaster() throws Exception {
    onSender(
        5,
        (sender, logs) -> {
          int leader = master();
          List<Integer> others = others();
          for (int other : others) {
            kill(other);
          }
          awaitInSync(1);
          assertThat(sender.once()).isEqualTo("BROKER");

          kill(leader);
          for (int other : others) {
            start(other);
          }
          for (int other : others) {
            await(() -> isUp(other));
          }
          // Without a master they do not register, so no client finds them.
          await(() -> logs.readableSpanQueues().isEmpty());
          assertThat(logs.spanQueues()).isEmpty();
          assertThatThrownBy(sender.transport::queues).isInstanceOf(IOException.class);
          assertThat(sender.once()).isEqualTo("CONNECT");
          start(leader);

          assertThat(sender.untilConfirmed()).isSubsetOf("CONNECT", "CLIENT", "BROKER", CONFIRMED);
          assertThat(master()).isEqualTo(leader);
          assertThat(sender.transport.queues()).hasSize(QUEUES);
        });
  }
}
