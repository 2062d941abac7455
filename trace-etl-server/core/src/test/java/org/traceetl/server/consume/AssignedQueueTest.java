package org.traceetl.server.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.Test;
import org.traceetl.server.consume.ownership.QueueSealing;
import org.traceetl.server.consume.ownership.UnreadReason;

class AssignedQueueTest {
  private final AssignedQueue queue = new AssignedQueue(new MessageQueue("t", "b", 0), 0);

  private Duration pause(long nowNanos) {
    return Duration.ofNanos(queue.notBeforeNanos - nowNanos);
  }

  @Test
  void pausesDoubleWhileTheSameWindowIsRefused() {
    assertThat(queue.refusedWindow()).isEqualTo(QueueSealing.NONE);
    queue.refused(10, 5);
    assertThat(queue.refusedWindow()).isEqualTo(10);
    assertThat(queue.unread).isEqualTo(UnreadReason.REFUSED);
    assertThat(pause(5)).isEqualTo(Duration.ofSeconds(20));
    queue.refused(10, 7);
    assertThat(pause(7)).isEqualTo(Duration.ofSeconds(40));
    for (int times = 0; times < 5; times++) {
      queue.refused(10, 9);
    }
    assertThat(pause(9)).isEqualTo(Duration.ofMinutes(5));

    queue.refused(20, 11);
    assertThat(pause(11)).isEqualTo(Duration.ofSeconds(20));
  }
}
