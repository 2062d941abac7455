package org.traceetl.perf.simulate.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.publish.DecisionsWatch.Newest;
import org.traceetl.agent.publish.DecisionsWatch.Place;
import org.traceetl.agent.publish.Transport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.proto.BatchAges;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.NoAnswerException;
import org.traceetl.server.window.QueueId;

/** What agents and servers rely on, of real brokers and of simulated ones. */
abstract class BrokerConformance extends BrokerCases {
  static final int QUEUES = 4;
  private static final String GROUP = "sink";
  private static final String AGES = "1520,-20";

  abstract void stopBroker();

  abstract void startBroker() throws Exception;

  /** Loses a queue's messages of the spans' topic from an offset. */
  abstract void loseFrom(int queue, long offset);

  /** Waits until a client's pull of the spans' topic waits at the broker for this offset. */
  abstract void awaitPull(int queue, long offset) throws Exception;

  private void onLog(LogCase body) throws Exception {
    run(() -> {
      try (BrokerLogs logs = logs()) {
        body.run(logs.open(id(1)));
      }
    });
  }

  /** A case of one log. */
  @FunctionalInterface
  private interface LogCase {
    void run(JournalLog log) throws Exception;
  }

  // Logs

  @Test
  void appendedMessagesHaveConsecutiveOffsets() throws Exception {
    onLog(log -> {
      for (int i = 0; i < 10; i++) {
        assertThat(log.append(bytes("m" + i))).isEqualTo(i);
      }
    });
  }

  @Test
  void messagesAreReadInOrderFromAnOffset() throws Exception {
    onLog(log -> {
      for (int i = 0; i < 5; i++) {
        log.append(bytes("m" + i));
      }
      awaitEnd(log, 5);

      List<Entry> entries = log.read(2);

      assertThat(entries).extracting(Entry::offset).containsExactly(2L, 3L, 4L);
      assertThat(entries)
          .extracting(entry -> new String(entry.body(), UTF_8))
          .containsExactly("m2", "m3", "m4");
    });
  }

  @Test
  void atMostThirtyTwoMessagesAreReadAtOnce() throws Exception {
    onLog(log -> {
      for (int i = 0; i < 40; i++) {
        log.append(bytes("m" + i));
      }
      awaitEnd(log, 40);

      assertThat(log.read(0)).hasSize(32);
      assertThat(log.read(32)).hasSize(8);
    });
  }

  @Test
  void readingAtOrBeyondTheEndReturnsNothing() throws Exception {
    onLog(log -> {
      assertThat(log.read(0)).isEmpty();
      log.append(bytes("a"));
      awaitEnd(log, 1);

      assertThat(log.read(1)).isEmpty();
      assertThat(log.read(100)).isEmpty();
    });
  }

  @Test
  void beginAndEndEncloseTheMessages() throws Exception {
    onLog(log -> {
      assertThat(log.begin()).isZero();
      assertThat(log.end()).isZero();
      log.append(bytes("a"));
      log.append(bytes("b"));

      awaitEnd(log, 2);
      assertThat(log.begin()).isZero();
    });
  }

  @Test
  void offsetAtATimePrecedesLaterMessages() throws Exception {
    onLog(log -> {
      log.append(bytes("a"));
      pause(20);
      long between = unixMillis();
      pause(20);
      log.append(bytes("b"));
      awaitEnd(log, 2);

      assertThat(log.offsetAt(between)).isEqualTo(1);
      assertThat(log.offsetAt(0)).isZero();
      assertThat(log.offsetAt(unixMillis() + 60_000)).isEqualTo(2);
    });
  }

  @Test
  void aGroupWithoutMarkHasNone() throws Exception {
    onLog(log -> {
      assertThat(log.mark(GROUP)).isEqualTo(JournalLog.NONE);
      log.append(bytes("a"));
      awaitEnd(log, 1);
      assertThat(log.mark(GROUP)).isEqualTo(JournalLog.NONE);
    });
  }

  @Test
  void aMarkIsReadBackAndCanBeLowered() throws Exception {
    onLog(log -> {
      log.append(bytes("a"));
      log.append(bytes("b"));
      awaitEnd(log, 2);
      log.mark(GROUP, 2);
      assertThat(log.mark(GROUP)).isEqualTo(2);

      log.mark(GROUP, 1);

      assertThat(log.mark(GROUP)).isEqualTo(1);
      assertThat(log.mark("other")).isEqualTo(JournalLog.NONE);
    });
  }

  @Test
  void aTooLargeMessageIsRefusedAndNotStored() throws Exception {
    onLog(log -> {
      assertThatThrownBy(() -> log.append(new byte[Replica.MAX_BODY_BYTES + 1]))
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(NoAnswerException.class);

      assertThat(log.append(bytes("a"))).isZero();
    });
  }

  @Test
  void logsOfTheSameQueueShowTheSameMessages() throws Exception {
    run(() -> {
      try (BrokerLogs logs = logs();
          BrokerLogs others = logs()) {
        logs.open(id(0)).append(bytes("a"));
        JournalLog other = others.open(id(0));
        awaitEnd(other, 1);

        assertThat(other.append(bytes("b"))).isEqualTo(1);
        assertThat(others.open(id(1)).end()).isZero();
      }
    });
  }

  @Test
  void queuesAreThoseOfTheTopics() throws Exception {
    run(() -> {
      try (BrokerLogs logs = logs()) {
        Set<QueueId> all = Set.of(id(0), id(1), id(2), id(3));
        assertThat(logs.queues()).isEqualTo(all);
        assertThat(logs.spanQueues()).isEqualTo(all);
        assertThat(logs.readableSpanQueues()).isEqualTo(all);
        assertThat(logs.lowest(decisionsTopic())).isEqualTo(id(0));
        assertThat(logs.lowest("missing")).isNull();
        assertThat(logs.queues(decisionsTopic())).isEqualTo(Set.of(id(0)));
        assertThat(logs.queues("missing")).isEmpty();
        assertThatThrownBy(() -> logs.open(id(QUEUES))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> logs.open(new QueueId("missing", 0)))
            .isInstanceOf(IOException.class);
      }
    });
  }

  // Consumers

  private void onConsumer(ConsumerCase body) throws Exception {
    run(() -> {
      try (BrokerLogs logs = logs();
          Member member = new Member(0)) {
        member.awaitQueues(QUEUES);
        body.run(member, logs.open(config().topic(), id(2)));
      }
    });
  }

  /** A case of one consumer, and of queue 2 of its topic. */
  @FunctionalInterface
  private interface ConsumerCase {
    void run(Member member, JournalLog spans) throws Exception;
  }

  @Test
  void messagesOfAQueueArePolledInOrder() throws Exception {
    onConsumer((member, spans) -> {
      for (int i = 0; i < 50; i++) {
        spans.append(bytes("m" + i));
      }

      List<MessageExt> messages = member.take(50);

      assertThat(messages)
          .extracting(MessageExt::getQueueOffset)
          .isSorted()
          .doesNotHaveDuplicates();
      assertThat(new String(messages.get(49).getBody(), UTF_8)).isEqualTo("m49");
      MessageExt last = messages.getLast();
      assertThat(last.getTopic()).isEqualTo(config().topic());
      assertThat(last.getBrokerName()).isEqualTo(broker());
      assertThat(last.getQueueId()).isEqualTo(2);
      assertThat(last.getProperty(MessageConst.PROPERTY_MIN_OFFSET)).isEqualTo("0");
      assertThat(last.getProperty(MessageConst.PROPERTY_MAX_OFFSET)).isEqualTo("50");
    });
  }

  @Test
  void pollingAnIdleQueueReturnsNothing() throws Exception {
    onConsumer((member, spans) -> {
      assertThat(member.consumer.queueCount()).isEqualTo(QUEUES);
      assertThat(member.consumer.poll(50)).isEmpty();
    });
  }

  @Test
  void aMessageIsReadByItsOffset() throws Exception {
    onConsumer((member, spans) -> {
      spans.append(bytes("a"));
      spans.append(bytes("b"));
      MessageExt polled = member.take(2).get(1);
      BrokerOffsets offsets = member.consumer.offsets();

      MessageExt read = offsets.message(queue(2), 1);

      assertThat(read.getBody()).isEqualTo(bytes("b"));
      assertThat(read.getStoreTimestamp()).isEqualTo(polled.getStoreTimestamp());
      assertThat(read.getStoreHost()).isEqualTo(polled.getStoreHost());
      assertThat(offsets.message(queue(2), 2)).isNull();
      assertThat(offsets.message(queue(2), 7)).isNull();
      assertThat(offsets.address(queue(2))).isNotNull();
    });
  }

  @Test
  void committedOffsetsAreReadBack() throws Exception {
    onConsumer((member, spans) -> {
      BrokerOffsets offsets = member.consumer.offsets();
      assertThat(offsets.of(queue(2))).isEqualTo(new BrokerOffsets.Range(0, 0, -1));
      spans.append(bytes("a"));
      spans.append(bytes("b"));
      member.take(2);

      offsets.commit(queue(2), 1);

      assertThat(offsets.of(queue(2))).isEqualTo(new BrokerOffsets.Range(0, 2, 1));
      assertThat(offsets.committed(queue(1))).isEqualTo(BrokerOffsets.NONE);
    });
  }

  @Test
  void aGroupWithoutCommitIsAtTheBeginOfAQueueWithMessages() throws Exception {
    onConsumer((member, spans) -> {
      spans.append(bytes("a"));
      member.take(1);

      assertThat(member.consumer.offsets().committed(queue(2))).isZero();
    });
  }

  @Test
  void seekingBackRepeatsMessages() throws Exception {
    onConsumer((member, spans) -> {
      for (int i = 0; i < 6; i++) {
        spans.append(bytes("m" + i));
      }
      member.take(6);

      member.consumer.seek(queue(2), 4, member.consumer.offsets().address(queue(2)));

      assertThat(member.take(2)).extracting(MessageExt::getQueueOffset).containsExactly(4L, 5L);
    });
  }

  @Test
  void seekingForwardSkipsMessages() throws Exception {
    onConsumer((member, spans) -> {
      for (int i = 0; i < 3; i++) {
        spans.append(bytes("m" + i));
      }
      member.take(3);
      member.consumer.seek(queue(2), 1, null);
      member.take(2);
      member.consumer.seek(queue(2), 3, null);
      spans.append(bytes("m3"));

      assertThat(member.take(1)).extracting(MessageExt::getQueueOffset).containsExactly(3L);
    });
  }

  @Test
  void seekingBeyondTheEndIsRefused() throws Exception {
    onConsumer((member, spans) -> {
      spans.append(bytes("a"));
      member.take(1);

      assertThatThrownBy(() -> member.consumer.seek(queue(2), 2, null))
          .isInstanceOf(MQClientException.class);
      assertThatThrownBy(() -> member.consumer.seek(queue(QUEUES), 0, null))
          .isInstanceOf(MQClientException.class);
    });
  }

  @Test
  void onlyAPullAfterAnUnknownMasterIsResumed() throws Exception {
    onConsumer((member, spans) -> {
      spans.append(bytes("a"));
      member.take(1);
      LongPredicate resumed = member.consumer.resumedPulls(queue(2));
      assertThat(resumed.test(0)).isFalse();

      // If a pull begins just before the seek, the seek leaves it without an answer, and the next
      // one is resumed.
      await(() -> {
        member.consumer.seek(queue(2), 0, member.consumer.offsets().address(queue(2)));
        member.take(1);
        return !resumed.test(0);
      });

      member.consumer.seek(queue(2), 0, null);
      member.take(1);
      assertThat(resumed.test(0)).isTrue();
      assertThat(resumed.test(0)).isFalse();
    });
  }

  @Test
  void offsetsOfLostMessagesAreUsedAgain() throws Exception {
    onConsumer((member, spans) -> {
      for (int i = 0; i < 5; i++) {
        spans.append(bytes("m" + i));
      }
      member.take(5);
      // A pull that comes after the loss would be told to begin at the new end.
      awaitPull(2, 5);
      loseFrom(2, 3);
      awaitEnd(spans, 3);
      assertThat(member.consumer.offsets().message(queue(2), 3)).isNull();

      for (int i = 3; i < 6; i++) {
        assertThat(spans.append(bytes("n" + i))).isEqualTo(i);
      }

      // The client's pull was already after the lost messages, and skips their replacements.
      MessageExt next = member.take(1).getFirst();
      assertThat(next.getQueueOffset()).isEqualTo(5);
      assertThat(member.consumer.offsets().message(queue(2), 4).getBody()).isEqualTo(bytes("n4"));
    });
  }

  @Test
  void aPullContinuesAfterARestartAsResumed() throws Exception {
    onConsumer((member, spans) -> {
      spans.append(bytes("a"));
      member.take(1);
      LongPredicate resumed = member.consumer.resumedPulls(queue(2));
      stopBroker();
      try {
        assertThatThrownBy(() -> spans.append(bytes("x"))).isInstanceOf(NoAnswerException.class);
      } finally {
        startBroker();
      }

      await(() -> {
        try {
          spans.append(bytes("b"));
          return true;
        } catch (IOException e) {
          return false;
        }
      });

      MessageExt next = member.take(1).getFirst();
      assertThat(next.getBody()).isEqualTo(bytes("b"));
      assertThat(next.getQueueOffset()).isEqualTo(1);
      assertThat(resumed.test(1)).isTrue();
    });
  }

  @Test
  void twoMembersShareTheQueuesUntilOneLeaves() throws Exception {
    run(() -> {
      try (BrokerLogs logs = logs();
          Member one = new Member(0)) {
        one.awaitQueues(QUEUES);
        try (Member other = new Member(1)) {
          other.awaitQueues(QUEUES / 2);
          one.awaitQueues(QUEUES / 2);

          assertThat(one.given).doesNotContainAnyElementsOf(other.given);
          assertThat(one.consumer.queues()).isEqualTo(one.given);
          assertThat(logs.members()).hasSize(2).allMatch(name -> name.contains("=" + HERE));
        }
        one.awaitQueues(QUEUES);
        assertThat(logs.members()).hasSize(1);
        assertThat(one.consumer.rebalances()).isPositive();
      }
    });
  }

  @Test
  void membersOfAGroupWithoutAnyCannotBeListed() throws Exception {
    run(() -> {
      try (BrokerLogs logs = logs()) {
        assertThatThrownBy(logs::members).isInstanceOf(IOException.class);
      }
    });
  }

  @Test
  void aMemberMoreThanQueuesHasNone() throws Exception {
    run(() -> {
      List<Member> members = new ArrayList<>();
      try {
        for (int worker = 0; worker <= QUEUES; worker++) {
          members.add(new Member(worker));
        }
        await(() -> members.stream().filter(member -> member.given.size() == 1).count() == QUEUES);
        await(() ->
            members.stream()
                .allMatch(member ->
                    member.consumer.queues() != null && member.consumer.queues().size() <= 1));

        assertThat(members)
            .filteredOn(member -> member.consumer.queues().isEmpty())
            .hasSize(1)
            .allMatch(member -> member.given.isEmpty());
      } finally {
        members.forEach(Member::close);
      }
    });
  }

  @Test
  void theNextOwnerBeginsAtTheCommittedOffset() throws Exception {
    run(() -> {
      try (BrokerLogs logs = logs()) {
        JournalLog spans = logs.open(config().topic(), id(2));
        spans.append(bytes("a"));
        spans.append(bytes("b"));
        try (Member one = new Member(0)) {
          one.awaitQueues(QUEUES);
          one.take(2);
          one.consumer.offsets().commit(queue(2), 1);
        }
        try (Member other = new Member(1)) {
          assertThat(other.take(1)).extracting(MessageExt::getQueueOffset).containsExactly(1L);
        }
      }
    });
  }

  // Transports

  /** A case of a transport that knows its broker. */
  @FunctionalInterface
  private interface TransportCase {
    void run(Transport transport, BrokerLogs logs) throws Exception;
  }

  private void onTransport(TransportCase body) throws Exception {
    run(() -> {
      try (Transport transport = transport();
          BrokerLogs logs = logs()) {
        await(() -> {
          try {
            return transport.queues().size() == QUEUES;
          } catch (IOException e) {
            return false;
          }
        });
        pause(100);
        body.run(transport, logs);
      }
    });
  }

  @Test
  void aSendIsConfirmedOnceAndStored() throws Exception {
    onTransport((transport, logs) -> {
      Outcomes outcomes = new Outcomes();

      transport.send(new BrokerQueue(broker(), 3), bytes("batch"), () -> AGES, outcomes);

      await(() -> !outcomes.all.isEmpty());
      pause(100);
      assertThat(outcomes.all).containsExactly("confirmed");
      JournalLog spans = logs.open(config().topic(), id(3));
      awaitEnd(spans, 1);
      assertThat(spans.read(0).getFirst().body()).isEqualTo(bytes("batch"));
    });
  }

  @Test
  void onlyMessagesOfATransportHaveAges() throws Exception {
    onTransport((transport, logs) -> {
      try (Member member = new Member(0)) {
        member.awaitQueues(QUEUES);
        Outcomes outcomes = new Outcomes();

        transport.send(new BrokerQueue(broker(), 2), bytes("batch"), () -> AGES, outcomes);
        await(() -> !outcomes.all.isEmpty());
        logs.open(config().topic(), id(2)).append(bytes("other"));

        assertThat(member.take(2))
            .extracting(message -> message.getProperty(BatchAges.PROPERTY))
            .containsExactly(AGES, null);
        assertThat(member.consumer.offsets().message(queue(2), 0).getProperty(BatchAges.PROPERTY))
            .isEqualTo(AGES);
      }
    });
  }

  @Test
  void aTooLargeBatchIsRefusedForGood() throws Exception {
    onTransport((transport, logs) -> {
      Outcomes outcomes = new Outcomes();

      transport.send(
          new BrokerQueue(broker(), 3), new byte[Replica.MAX_BODY_BYTES + 1], () -> AGES, outcomes);

      await(() -> !outcomes.all.isEmpty());
      assertThat(outcomes.all).containsExactly("refused");
    });
  }

  @Test
  void aSendToAnUnknownBrokerFailsAtTheClient() throws Exception {
    onTransport((transport, logs) -> {
      Outcomes outcomes = new Outcomes();

      transport.send(new BrokerQueue("missing", 0), bytes("a"), () -> AGES, outcomes);

      await(() -> !outcomes.all.isEmpty());
      assertThat(outcomes.all).containsExactly("CLIENT");
    });
  }

  @Test
  void writableQueuesAreSorted() throws Exception {
    onTransport((transport, logs) ->
        assertThat(transport.queues())
            .containsExactly(
                new BrokerQueue(broker(), 0),
                new BrokerQueue(broker(), 1),
                new BrokerQueue(broker(), 2),
                new BrokerQueue(broker(), 3)));
  }

  @Test
  void newestReturnsTheLastRecordsOfTheLowestQueue() throws Exception {
    onTransport((transport, logs) -> {
      assertThat(transport.newest("missing", Place.NONE))
          .isEqualTo(new Newest(Place.NONE, List.of()));
      JournalLog log = logs.open(decisionsTopic(), logs.lowest(decisionsTopic()));
      for (int i = 0; i < 40; i++) {
        log.append(bytes("d" + i));
      }
      awaitEnd(log, 40);

      Newest newest = transport.newest(decisionsTopic(), Place.NONE);

      assertThat(newest.place()).isEqualTo(new Place(broker(), 40));
      assertThat(newest.records()).hasSize(32);
      assertThat(newest.records().getLast()).isEqualTo(bytes("d39"));
      assertThat(transport.newest(decisionsTopic(), newest.place()).records()).isEmpty();
    });
  }
}
