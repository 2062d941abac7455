package org.traceetl.server.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.common.SteppedTask;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.OwnedQueue;
import org.traceetl.server.consume.queue.PaneLag;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

class CommitterTest {
  private static final QueueId ID = new QueueId("b", 0);

  /** A broker that can block its callers. */
  private static final class Broker implements BrokerOffsets {
    private final List<Long> commits = new ArrayList<>();
    private final CountDownLatch called = new CountDownLatch(1);
    private CountDownLatch answers = new CountDownLatch(0);
    private long committed = NONE;

    @Override
    public Range of(MessageQueue queue) {
      return new Range(0, max(queue), committed);
    }

    @Override
    public MessageExt message(MessageQueue queue, long offset) {
      return null;
    }

    @Override
    public String address(MessageQueue queue) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long max(MessageQueue queue) {
      return 1_000;
    }

    @Override
    public long committed(MessageQueue queue) {
      return committed;
    }

    @Override
    public void commit(MessageQueue queue, long offset) throws InterruptedException {
      called.countDown();
      answers.await();
      commits.add(offset);
      committed = offset;
    }
  }

  private final Aggregation aggregation = Aggregation.builder(() -> 1).build();
  private final OwnedQueue queue =
      new OwnedQueue(
          ID,
          new MessageQueue("t", "b", 0),
          aggregation.newAggregator(ID, aggregation.newDecoder(), new SpanPipelineMetrics()),
          new SpanPipelineMetrics(),
          0,
          LastMessages.NONE,
          offset -> false,
          Set.of(),
          new PaneLag(15_000));
  private final Broker broker = new Broker();
  private final Committer committer = new Committer(new SpanPipelineMetrics(), Clocks.SYSTEM);

  private void keep(long offset) {
    queue.kept(offset);
    committer.visit(queue, broker);
  }

  private void runToTheEnd() throws InterruptedException {
    while (committer.doWork() != SteppedTask.ENDED) {
      // the next visit
    }
  }

  @Test
  void behindASlowBrokerOnlyTheNewestOffsetWaits() throws Exception {
    broker.answers = new CountDownLatch(1);
    committer.thread().start();
    keep(10);
    broker.called.await();
    keep(20);
    keep(30);
    keep(40);
    broker.answers.countDown();
    committer.finish();
    assertThat(committer.thread().join(Duration.ofSeconds(60))).isTrue();

    assertThat(broker.commits).containsExactly(10L, 40L);
    assertThat(queue.status().committed()).isEqualTo(40);
  }

  @Test
  void aQueueThatMovedIsNotSetBack() throws Exception {
    keep(10);
    queue.release();
    broker.committed = 50;
    committer.finish();
    runToTheEnd();

    assertThat(broker.commits).isEmpty();
  }

  @Test
  void theLastOffsetOfAQueueGivenUpIsCommitted() throws Exception {
    keep(10);
    queue.release();
    broker.committed = 5;
    committer.finish();
    runToTheEnd();

    assertThat(broker.commits).containsExactly(10L);
  }

  @Test
  void theLagOfAQueueIsKnownBeforeItsFirstMessage() throws Exception {
    assertThat(queue.status().lag()).isZero();
    committer.visit(queue, broker);
    committer.finish();
    runToTheEnd();

    assertThat(queue.status().lag()).isEqualTo(1_000);
    assertThat(broker.commits).isEmpty();
  }
}
