package org.traceetl.server.features.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;

final class AgentsTest {
  private static final long MINUTE = 60_000;
  private static final long NOW = 29_920_320;
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("b", 0);

  private final RecentAgents agents = new RecentAgents(2);

  /** Runs of agent, epoch, first, last; in a window of that minute. */
  private void add(QueueId queue, long minute, long... runs) {
    long[] full = new long[runs.length / 4 * 5];
    for (int run = 0; run < runs.length / 4; run++) {
      full[run * 5 + 1] = runs[run * 4];
      System.arraycopy(runs, run * 4 + 1, full, run * 5 + 2, 3);
    }
    long millis = minute * MINUTE;
    agents.add(
        new RowlessWindow(queue, 0, 1, millis, millis + 1_000).batches(full).seal(), minute, NOW);
  }

  private RecentAgents.View only() {
    assertThat(agents.views(NOW - 59, NOW + 1)).hasSize(1);
    return agents.views(NOW - 59, NOW + 1).getFirst();
  }

  @Test
  void batchesOfAllEpochsAndQueuesAddUp() {
    add(A, NOW - 2, 1, 7, 0, 9);
    add(B, NOW - 1, 1, 7, 0, 0, 1, 8, 3, 4);
    add(B, NOW, 1, 8, 5, 5);

    assertThat(only().batches()).isEqualTo(14);
    assertThat(only().queues()).isEqualTo(2);
    assertThat(only().seenMillis()).isEqualTo(NOW * MINUTE + 1_000);
    assertThat(only().agent().getLeastSignificantBits()).isEqualTo(1);
  }

  @Test
  void beginOfTheEpochIsKnownByAnOlderOne() {
    add(A, NOW - 5, 1, 7, 3, 9);
    assertThat(only().startedMillis()).isZero();
    add(A, NOW - 3, 1, 8, 4, 9);
    add(A, NOW - 2, 1, 8, 10, 11);

    assertThat(only().startedMillis()).isEqualTo((NOW - 3) * MINUTE);
  }

  @Test
  void beginOfTheEpochIsKnownByItsFirstBatchInWhateverOrderQueuesAreRead() {
    add(A, NOW - 3, 1, 7, 0, 9);
    add(B, NOW - 2, 1, 7, 5, 9);
    assertThat(only().startedMillis()).isEqualTo((NOW - 3) * MINUTE);
    // A queue that the agent came to use later also begins with 0.
    add(B, NOW - 4, 1, 7, 4, 4);
    assertThat(only().startedMillis()).isZero();
    add(B, NOW - 9, 1, 6, 4, 4);
    assertThat(only().startedMillis()).isEqualTo((NOW - 4) * MINUTE);
  }

  @Test
  void thoseWithoutRoomAreLeftOutForAnHour() {
    add(A, NOW - 10, 1, 1, 0, 0, 2, 1, 0, 0, 3, 1, 0, 0);
    assertThat(agents.views(NOW - 59, NOW + 1)).hasSize(2);
    assertThat(agents.leftOut(NOW - 59)).isTrue();
    assertThat(agents.leftOut(NOW - 9)).isFalse();

    agents.sweep(NOW - 9);
    add(A, NOW, 3, 1, 0, 0);

    assertThat(only().agent().getLeastSignificantBits()).isEqualTo(3);
  }
}
