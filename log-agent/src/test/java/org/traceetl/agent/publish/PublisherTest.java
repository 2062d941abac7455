package org.traceetl.agent.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.RocketMqConfig;
import org.traceetl.agent.publish.MemoryTransport.Mode;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.telemetry.AgentMetrics;

final class PublisherTest {
  private static final RocketMqConfig CONFIG =
      new RocketMqConfig("unused:1", "trace-spans", "log-agent", "", "", 100, 1, 5, 1_000);
  private static final BrokerQueue A = new BrokerQueue("broker-a", 0);
  private static final BrokerQueue B = new BrokerQueue("broker-b", 0);

  private final MemoryTransport transport = new MemoryTransport();
  private final AtomicLong nowNanos = new AtomicLong();
  private final AgentMetrics metrics = new AgentMetrics();
  private final Publisher publisher = new Publisher(transport, CONFIG, metrics, nowNanos::get);
  private final Outcomes outcomes = new Outcomes();

  @AfterEach
  void stop() {
    publisher.close();
  }

  @Test
  void batchesOfAQueueThatIsGoneForAMinuteAreGivenUp() throws InterruptedException {
    transport.mode(Mode.UNREACHABLE);
    publisher.start();
    append(B);
    for (int i = 0; i < 3; i++) {
      tryAgainAfter(1, A, B);
    }
    publisher.topology(new Topology(List.of(B)));
    await().until(() -> !publisher.available());

    tryAgainAfter(50, A);
    assertThat(outcomes.failed).hasValue(0);
    await()
        .until(() -> {
          pass(TimeUnit.SECONDS.toNanos(10), A);
          return outcomes.failed.get() == 1;
        });

    assertThat(
            metrics.registry.getSampleValue(
                "trace_etl_agent_spans_failed_total",
                new String[] {"reason"},
                new String[] {"queue_gone"}))
        .isEqualTo(1);
    assertThat(publisher.drain(Long.MAX_VALUE)).isTrue();
    publisher.topology(new Topology(List.of(B)));
    await().until(publisher::available);
  }

  @Test
  void aQueueThatComesBackInTimeKeepsItsBatches() {
    transport.mode(Mode.UNREACHABLE);
    publisher.start();
    append(B);
    tryAgainAfter(50, A);
    tryAgainAfter(2, B);
    tryAgainAfter(50, A);

    transport.mode(Mode.CONFIRM);
    tryAgainAfter(2, A);
    await().until(() -> outcomes.confirmed.get() == 1);
    assertThat(outcomes.failed).hasValue(0);
  }

  @Test
  void afterTheCloseNothingIsSentThatIsGivenUp() {
    append(A);
    publisher.close();
    publisher.start();

    await().until(() -> outcomes.failed.get() == 1);
    assertThat(transport.attempts()).isZero();
  }

  private void append(BrokerQueue queue) {
    publisher.append(new Batch(queue, 0, new byte[1], 1, outcomes));
  }

  /** Lets the time go on until the publisher, which knows these queues, has sent once more. */
  private void tryAgainAfter(int seconds, BrokerQueue... queues) {
    int before = transport.attempts();
    pass(TimeUnit.SECONDS.toNanos(seconds), queues);
    await()
        .until(() -> {
          pass(TimeUnit.MILLISECONDS.toNanos(10), queues);
          return transport.attempts() > before;
        });
  }

  private void pass(long nanos, BrokerQueue... queues) {
    nowNanos.addAndGet(nanos);
    publisher.topology(new Topology(List.of(queues)));
  }

  private static final class Outcomes implements Batch.Outcome {
    final AtomicInteger confirmed = new AtomicInteger();
    final AtomicInteger failed = new AtomicInteger();

    @Override
    public void confirmed() {
      confirmed.incrementAndGet();
    }

    @Override
    public void refused() {
      throw new AssertionError("not refused in these tests");
    }

    @Override
    public void failed(String reason) {
      failed.incrementAndGet();
    }
  }
}
