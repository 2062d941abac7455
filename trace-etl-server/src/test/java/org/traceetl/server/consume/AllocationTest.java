package org.traceetl.server.consume;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;

/** Decoding and recording allocate nothing once everything has been seen. */
class AllocationTest {
  private static final int WARM_UP = 200;
  private static final int ROUNDS = 200;

  @Test
  void aSpanAllocatesNothing() {
    Workload workload = new Workload(20, 50, 200);
    Aggregation aggregation =
        new Aggregation(
            workload.series(),
            new HistogramConfig(null),
            new DocumentsConfig(null, null, null, null, null, 0),
            new WindowConfig(null, null));
    QueueAggregator aggregator =
        aggregation.newAggregator(
            new QueueId("b", 0), aggregation.newDecoder(), PipelineListener.NONE);
    for (int i = 0; i < WARM_UP; i++) {
      workload.sendTo(aggregator, 1_000);
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    // The bean itself may allocate: a round without work tells how much.
    long overhead = threads.getCurrentThreadAllocatedBytes() - before;

    before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < ROUNDS; i++) {
      workload.sendTo(aggregator, 1_000);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before - overhead;

    assertThat(allocated).isZero();
    long recorded =
        aggregator.swap(0, 1_000).seal().books().stream().mapToLong(Books::recorded).sum();
    assertThat(recorded).isEqualTo((long) (WARM_UP + ROUNDS) * workload.spans());
  }
}
