package org.traceetl.perf.simulate.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.agent.publish.Transport;
import org.traceetl.common.Clocks;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.broker.SpanConsumer;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;

/** An installation of real brokers or of simulated ones, and its clients, for cases on both. */
abstract class BrokerCases {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  static final Endpoint HERE = new Endpoint(false, "10.1.2.3", 4_318);

  /** A case. */
  @FunctionalInterface
  interface Case {
    void run() throws Exception;
  }

  /** Something that will be true. */
  @FunctionalInterface
  interface Condition {
    boolean holds() throws Exception;
  }

  /** Runs a case on a thread that may wait for brokers. */
  abstract void run(Case body) throws Exception;

  /** Lets a moment pass, of this many milliseconds at least. */
  abstract void pause(long millis) throws InterruptedException;

  abstract long unixMillis();

  abstract Clocks clocks();

  abstract Brokers brokers();

  abstract Transport transport() throws IOException;

  /** Returns the name of the broker that the cases use. */
  abstract String broker();

  /** Returns the configuration with the test's own topic of spans and consumer group. */
  abstract RocketMqConfig config();

  abstract String journalTopic();

  abstract String decisionsTopic();

  final void await(Condition condition) throws Exception {
    long startMillis = unixMillis();
    while (!condition.holds()) {
      assertThat(unixMillis() - startMillis).as("milliseconds").isLessThan(120_000);
      pause(10);
    }
  }

  final QueueId id(int queue) {
    return new QueueId(broker(), queue);
  }

  final MessageQueue queue(int queue) {
    return new MessageQueue(config().topic(), broker(), queue);
  }

  static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  final BrokerLogs logs() throws Exception {
    BrokerLogs logs = brokers().logs(config(), journalTopic(), TIMEOUT, clocks());
    logs.start();
    return logs;
  }

  final void awaitEnd(JournalLog log, long end) throws Exception {
    await(() -> log.end() == end);
  }

  /** A consumer, and the queues that it was given last. */
  final class Member implements AutoCloseable {
    final SpanConsumer consumer;
    volatile Set<MessageQueue> given = Set.of();

    Member(int worker) throws Exception {
      consumer =
          brokers()
              .consumers(config(), clocks())
              .connect(worker, HERE, 32, queues -> given = queues);
    }

    void awaitQueues(int count) throws Exception {
      await(() -> given.size() == count);
    }

    /** Polls until this many messages have come. */
    List<MessageExt> take(int count) throws Exception {
      List<MessageExt> messages = new ArrayList<>();
      await(() -> {
        messages.addAll(consumer.poll(100));
        return messages.size() >= count;
      });
      return messages;
    }

    @Override
    public void close() {
      consumer.close();
    }
  }

  /** Records outcomes. */
  static final class Outcomes implements Transport.Answer {
    final List<String> all = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void confirmed() {
      all.add("confirmed");
    }

    @Override
    public void failed(Transport.Failure failure, String detail) {
      all.add(failure.name());
    }

    @Override
    public void refused(String detail) {
      all.add("refused");
    }
  }
}
