package org.traceetl.agent.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.publish.Lane.Attempt;
import org.traceetl.agent.route.BrokerQueue;

final class LaneTest {
  private final Lane lane = new Lane(0);

  @Test
  void noBatchIsSentFartherFromTheOldestUnconfirmedOneThanTheServerCanTell() {
    add(0, 2 * Lane.SEQUENCE_WINDOW);
    List<Attempt> sent = sendAll(0);
    assertThat(sent).hasSize(Lane.SEQUENCE_WINDOW);

    sent.subList(1, sent.size()).forEach(lane::confirmed);
    assertThat(sendAll(0)).isEmpty();
    lane.confirmed(sent.getFirst());

    assertThat(sendAll(0)).hasSize(Lane.SEQUENCE_WINDOW);
  }

  @Test
  void afterAFailureOneBatchAtATimeIsTriedWhenThePauseIsOver() {
    add(0, 10);
    sendAll(0).forEach(attempt -> lane.failed(attempt, 5));
    lane.pauseUntil(100);

    assertThat(lane.isPaused(50)).isTrue();
    assertThat(sendAll(50)).isEmpty();
    Attempt probe = lane.next(100);
    assertThat(probe.batch.sequence()).isZero();
    assertThat(lane.next(100)).isNull();

    lane.confirmed(probe);
    assertThat(sendAll(101)).hasSize(9);
  }

  @Test
  void attemptsThatWereUnderWayTogetherFailOnce() {
    add(0, 3);
    List<Attempt> sent = sendAll(0);

    assertThat(lane.failed(sent.get(0), 5)).isEqualTo(1);
    assertThat(lane.failed(sent.get(1), 6)).isEqualTo(1);
    lane.pauseUntil(10);
    assertThat(lane.failed(sent.get(2), 7)).isEqualTo(1);
    assertThat(lane.failed(lane.next(10), 11)).isEqualTo(2);
  }

  @Test
  void anAnswerAfterItsAttemptWasTakenForLostStillCounts() {
    add(0, 1);
    Attempt lost = lane.next(0);
    assertThat(lane.startedBefore(10)).containsExactly(lost);
    lane.failed(lost, 10);
    lane.pauseUntil(20);

    assertThat(lane.confirmed(lost)).isTrue();
    assertThat(lane.next(20)).isNull();
    assertThat(lane.removeAll()).isEmpty();
  }

  @Test
  void aBatchConfirmedTwiceIsConfirmedOnce() {
    add(0, 1);
    Attempt first = lane.next(0);
    lane.failed(first, 1);
    Attempt second = lane.next(1);

    assertThat(lane.confirmed(second)).isTrue();
    assertThat(lane.confirmed(first)).isFalse();
  }

  private void add(int from, int to) {
    for (int sequence = from; sequence < to; sequence++) {
      lane.add(new Batch(new BrokerQueue("broker-a", 0), sequence, new byte[1], 1, null));
    }
  }

  private List<Attempt> sendAll(long nowNanos) {
    List<Attempt> sent = new ArrayList<>();
    Attempt attempt = lane.next(nowNanos);
    while (attempt != null) {
      sent.add(attempt);
      attempt = lane.next(nowNanos);
    }
    return sent;
  }
}
