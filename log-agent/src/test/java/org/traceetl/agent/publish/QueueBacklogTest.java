package org.traceetl.agent.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.publish.QueueBacklog.Attempt;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.agent.spool.TestSpool;
import org.traceetl.agent.state.AgentIdentity;

final class QueueBacklogTest {
  private static final BrokerQueue QUEUE = new BrokerQueue("broker-a", 0);
  private static final AgentIdentity FIRST_RUN = new AgentIdentity(7, 8, 1);
  private static final AgentIdentity SECOND_RUN = new AgentIdentity(7, 8, 2);

  private static final long DOWN_MILLIS = 40_000;

  private final QueueBacklog lane = new QueueBacklog(QueueBacklogTest::date);

  @Test
  void batchesAreSentWithinTheSequenceWindow() {
    add(0, 2 * QueueBacklog.SEQUENCE_WINDOW);
    List<Attempt> sent = sendAll(0);
    assertThat(sent).hasSize(QueueBacklog.SEQUENCE_WINDOW);

    sent.subList(1, sent.size()).forEach(this::confirm);
    assertThat(sendAll(0)).isEmpty();
    confirm(sent.getFirst());

    assertThat(sendAll(0)).hasSize(QueueBacklog.SEQUENCE_WINDOW);
  }

  @Test
  void oneBatchAtATimeIsSentAfterAFailure() {
    add(0, 10);
    sendAll(0).forEach(attempt -> lane.failed(attempt, 5));
    lane.pauseUntil(100);

    assertThat(lane.isPaused(50)).isTrue();
    assertThat(sendAll(50)).isEmpty();
    Attempt probe = next(100);
    assertThat(probe.first().sequence()).isZero();
    assertThat(next(100)).isNull();

    confirm(probe);
    assertThat(sendAll(101)).hasSize(9);
  }

  @Test
  void concurrentAttemptsFailOnce() {
    add(0, 3);
    List<Attempt> sent = sendAll(0);

    assertThat(lane.failed(sent.get(0), 5)).isEqualTo(1);
    assertThat(lane.failed(sent.get(1), 6)).isEqualTo(1);
    lane.pauseUntil(10);
    assertThat(lane.failed(sent.get(2), 7)).isEqualTo(1);
    assertThat(lane.failed(next(10), 11)).isEqualTo(2);
  }

  @Test
  void lateAnswerToALostAttemptCounts() {
    add(0, 1);
    Attempt lost = next(0);
    assertThat(lane.startedBefore(10)).containsExactly(lost);
    lane.failed(lost, 10);
    lane.pauseUntil(20);

    assertThat(lane.answered(lost)).isTrue();
    assertThat(next(20)).isNull();
    assertThat(lane.isEmpty()).isTrue();
  }

  @Test
  void aBatchConfirmedTwiceIsConfirmedOnce() {
    add(0, 1);
    Attempt first = next(0);
    lane.failed(first, 1);
    Attempt second = next(1);

    assertThat(lane.answered(second)).isTrue();
    assertThat(lane.answered(first)).isFalse();
  }

  @Test
  void runIsSentAfterTheEarlierRunIsConfirmed() {
    add(5, 7);
    for (int sequence = 0; sequence < 2; sequence++) {
      lane.add(TestSpool.batch(SECOND_RUN, QUEUE, sequence, new byte[1]), 0);
    }
    List<Attempt> first = sendAll(0);
    assertThat(first).hasSize(2).allMatch(attempt -> attempt.first().agent().equals(FIRST_RUN));
    confirm(first.get(1));
    assertThat(next(0)).isNull();

    confirm(first.get(0));
    assertThat(sendAll(0)).hasSize(2).allMatch(a -> a.first().agent().equals(SECOND_RUN));
  }

  @Test
  void droppedBatchIsNotSent() {
    add(0, 3);
    Attempt first = next(0);
    lane.failed(first, 0);
    lane.pauseUntil(10);
    lane.remove(first.first());

    assertThat(next(10).first().sequence()).isEqualTo(1);
  }

  @Test
  void batchesOfARefusedBundleAreAloneUntilTheyAreSettled() {
    add(0, 2);
    lane.refused(bundle());
    List<Attempt> sent = sendAll(0);

    assertThat(sent).hasSize(2).allMatch(attempt -> lane.isAlone(attempt.first()));
    sent.forEach(this::confirm);
    assertThat(sent).noneMatch(attempt -> lane.isAlone(attempt.first()));
  }

  @Test
  void aLateRefusalOfALostBundleSendsNothingTwice() {
    add(0, 2);
    Attempt lost = bundle();
    lane.failed(lost, 0);
    lane.refused(lost);
    confirm(next(0));

    assertThat(sendAll(0)).hasSize(1).allMatch(attempt -> lane.isAlone(attempt.first()));
    assertThat(lane.oldest().sequence()).isEqualTo(1);
  }

  /** The agent was down between the runs, and its clock did not advance. */
  private static long date(SpooledBatch batch) {
    return batch.createdMillis() - (batch.agent().equals(FIRST_RUN) ? DOWN_MILLIS : 0);
  }

  @Test
  void aBatchOfTheEarlierRunIsOlderDespiteItsLaterDateInTheSpool() {
    SpooledBatch before = TestSpool.batch(FIRST_RUN, QUEUE, 0, 100_000, new byte[1]);
    lane.add(before, 0);
    lane.add(TestSpool.batch(SECOND_RUN, QUEUE, 0, 100_000 - DOWN_MILLIS / 2, new byte[1]), 0);

    assertThat(lane.oldestExcept(List.of())).isSameAs(before);
  }

  @Test
  void theOldestBatchIsKnownWhateverTheOrderOfTheDates() {
    Random random = new Random(7);
    Set<SpooledBatch> left = new HashSet<>();
    List<Attempt> inFlight = new ArrayList<>();
    for (int sequence = 0; sequence < 3_000; sequence++) {
      SpooledBatch added =
          TestSpool.batch(FIRST_RUN, QUEUE, sequence, random.nextInt(10_000), new byte[1]);
      lane.add(added, 0);
      left.add(added);
      for (int i = random.nextInt(3); i > 0; i--) {
        Attempt attempt = next(0);
        if (attempt != null) {
          inFlight.add(attempt);
          assertThat(oldestMillis(lane.oldestExcept(attempt.batches)))
              .isEqualTo(oldestMillis(left, attempt.first()));
        }
      }
      while (!inFlight.isEmpty() && random.nextInt(3) > 0) {
        Attempt confirmed = inFlight.remove(random.nextInt(inFlight.size()));
        confirm(confirmed);
        left.remove(confirmed.first());
      }
      assertThat(oldestMillis(lane.oldestExcept(List.of()))).isEqualTo(oldestMillis(left, null));
    }
  }

  private static long oldestMillis(SpooledBatch oldest) {
    return oldest == null ? -1 : oldest.createdMillis();
  }

  private static long oldestMillis(Set<SpooledBatch> batches, SpooledBatch except) {
    return batches.stream()
        .filter(batch -> batch != except)
        .mapToLong(SpooledBatch::createdMillis)
        .min()
        .orElse(-1);
  }

  private Attempt bundle() {
    List<Attempt> sent = sendAll(0);
    sent.subList(1, sent.size()).forEach(attempt -> lane.join(sent.getFirst(), attempt));
    return sent.getFirst();
  }

  private void add(int from, int to) {
    for (int sequence = from; sequence < to; sequence++) {
      lane.add(TestSpool.batch(FIRST_RUN, QUEUE, sequence, new byte[1]), 0);
    }
  }

  private void confirm(Attempt attempt) {
    lane.succeeded();
    lane.answered(attempt);
  }

  private Attempt next(long nowNanos) {
    return lane.peek(nowNanos) == null ? null : lane.take(nowNanos);
  }

  private List<Attempt> sendAll(long nowNanos) {
    List<Attempt> sent = new ArrayList<>();
    Attempt attempt = next(nowNanos);
    while (attempt != null) {
      sent.add(attempt);
      attempt = next(nowNanos);
    }
    return sent;
  }
}
