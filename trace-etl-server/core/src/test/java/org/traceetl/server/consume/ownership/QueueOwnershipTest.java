package org.traceetl.server.consume.ownership;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.common.SteppedTask;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.OwnedQueue;
import org.traceetl.server.consume.queue.PaneLag;
import org.traceetl.server.consume.queue.QueueAggregator;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.journal.InconsistentWindowException;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** Tests claim, lease and sealing of queues step by step, with a fake clock. */
class QueueOwnershipTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final List<String> calls = new ArrayList<>();
  private final ScriptedJournal journal = new ScriptedJournal();
  private final Aggregation aggregation = Aggregation.builder(() -> 1).build();
  private final BatchDecoder decoder = aggregation.newDecoder();
  private long nowNanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(20);
  private final Clocks clocks =
      new Clocks(
          () -> nowNanos,
          () -> Instant.ofEpochMilli(1_800_000_000_000L + nowNanos / 1_000_000),
          nanos -> {
            throw new AssertionError("a step slept");
          });
  private final QueueOwnerships.Shared shared =
      new QueueOwnerships.Shared(
          journal, LEASE, new Follower(), aggregation, new SpanPipelineMetrics(), clocks);
  private final QueueOwnerships ownerships = new QueueOwnerships(shared, thread -> {});
  private final QueueOwnership ownership = ownerships.take(QUEUE, decoder);
  private QueueAggregator aggregator;

  /** A journal that fails as often as a test sets, and otherwise keeps all windows. */
  private final class ScriptedJournal implements Journal, QueueJournal {
    private int failures;

    /** Whether it refuses windows. */
    private boolean refuses;

    private RuntimeException refusal = new InconsistentWindowException("made by the test");

    private Outcome outcome = Outcome.KEPT;
    private boolean snapshotDue;

    /** Whether a take-over waits for the release of the former owner. */
    private boolean unreleased;

    private long shownUntilNanos;

    private Outcome call(String name) throws IOException {
      calls.add(name);
      if (failures > 0) {
        failures--;
        throw new IOException("made by the test");
      }
      if (outcome == Outcome.KEPT) {
        shownUntilNanos = nowNanos + LEASE.toNanos();
      }
      return outcome;
    }

    @Override
    public TakeOver takeOver(QueueId queue, Duration patience) {
      return new TakeOver() {
        @Override
        public Taken step() throws IOException {
          call("claim, waits " + patience.toSeconds());
          return unreleased
              ? null
              : new Taken(
                  ScriptedJournal.this, aggregation.newImage(), LastMessages.NONE, nowNanos);
        }

        @Override
        public long dueInNanos() {
          return unreleased ? TimeUnit.MILLISECONDS.toNanos(50) : 0;
        }
      };
    }

    @Override
    public Outcome append(SealedWindow window, LastMessages read) throws IOException {
      Outcome appended = call("append " + window.to());
      if (refuses) {
        throw refusal;
      }
      return appended;
    }

    @Override
    public Outcome appendInconsistent(SealedWindow window, LastMessages read) throws IOException {
      return call("append inconsistent " + window.to());
    }

    @Override
    public Outcome renew() throws IOException {
      return call("renew");
    }

    @Override
    public long shownUntilNanos() {
      return shownUntilNanos;
    }

    @Override
    public boolean snapshotDue() {
      return snapshotDue;
    }

    @Override
    public Outcome snapshot() throws IOException {
      return call("snapshot");
    }

    @Override
    public void release() throws IOException {
      call("release");
    }

    @Override
    public void close() {}
  }

  private final class Follower implements WindowFollower {
    @Override
    public void restored(QueueId queue, QueueImage image, long showFromNanos) {
      calls.add("restored");
    }

    @Override
    public void window(SealedWindow window) {
      calls.add("show " + window.to());
    }

    @Override
    public void shownUntil(QueueId queue, long nanos) {
      calls.add("extend");
    }

    @Override
    public void released(QueueId queue) {
      calls.add("hide");
    }
  }

  private void pass(Duration time) {
    nowNanos += time.toNanos();
  }

  /** Runs a step and returns how long it may rest. */
  private Duration step() throws InterruptedException {
    long idleNanos = ownership.doWork();
    assertThat(idleNanos).isBetween(0L, SteppedTask.UNTIL_WOKEN - 1);
    return Duration.ofNanos(idleNanos);
  }

  private OwnedQueue own() throws InterruptedException {
    assertThat(step()).isZero();
    QueueOwnership.Recovered recovered = ownership.takeRecovered();
    aggregator = recovered.aggregator();
    calls.clear();
    return new OwnedQueue(
        QUEUE,
        new MessageQueue("t", "b", 0),
        recovered.aggregator(),
        new SpanPipelineMetrics(),
        0,
        LastMessages.NONE,
        offset -> false,
        Set.of(),
        new PaneLag(15_000));
  }

  private void seal(OwnedQueue owned, long to) {
    ownership.seal(owned, aggregator.swap(to, clocks.millis()), () -> calls.add("commit"));
  }

  private void assertEnded() throws InterruptedException {
    assertThat(ownership.doWork()).isEqualTo(SteppedTask.ENDED);
    assertThat(ownership.ended()).isTrue();
    ownership.onEnd();
  }

  @Test
  void aClaimRestoresTheFollowersBeforeTheWorker() throws Exception {
    assertThat(ownership.takeRecovered()).isNull();
    assertThat(ownership.unread()).isEqualTo(UnreadReason.BEING_TAKEN);
    step();

    assertThat(calls).containsExactly("claim, waits 3", "restored", "extend");
    assertThat(ownership.takeRecovered()).isNotNull();
    assertThat(ownership.takeRecovered()).isNull();
  }

  @Test
  void aTakeOverThatWaitsReturnsFromItsSteps() throws Exception {
    journal.unreleased = true;
    assertThat(step()).isEqualTo(Duration.ofMillis(50));
    assertThat(ownership.takeRecovered()).isNull();
    journal.unreleased = false;
    step();

    assertThat(ownership.takeRecovered()).isNotNull();
  }

  @Test
  void aReleaseEndsATakeOverThatWaits() throws Exception {
    journal.unreleased = true;
    step();
    ownership.release();

    assertEnded();
    assertThat(calls).containsExactly("claim, waits 3");
    assertThat(ownerships.take(QUEUE, decoder)).isNotNull();
  }

  @Test
  void aRefusedWindowReleasesTheQueueAndShowsNothing() throws Exception {
    OwnedQueue owned = own();
    journal.refuses = true;
    seal(owned, 10);
    assertThat(ownership.refusedFrom()).isEqualTo(QueueSealing.NONE);

    assertEnded();
    assertThat(calls).containsExactly("append 10", "hide", "release");
    assertThat(ownership.refusedFrom()).isZero();
    assertThat(ownerships.take(QUEUE, decoder)).isNotNull();
  }

  @Test
  void aWindowThatIsRefusedAgainIsWritten() throws Exception {
    ownership.refusedBefore(0);
    OwnedQueue owned = own();
    journal.refuses = true;
    seal(owned, 10);
    step();

    assertThat(calls)
        .containsExactly("append 10", "append inconsistent 10", "show 10", "extend", "commit");
    assertThat(ownership.refusedFrom()).isEqualTo(QueueSealing.NONE);
  }

  @Test
  void anotherWindowThatIsRefusedReleasesTheQueue() throws Exception {
    ownership.refusedBefore(5);
    OwnedQueue owned = own();
    journal.refuses = true;
    seal(owned, 10);

    assertEnded();
    assertThat(calls).containsExactly("append 10", "hide", "release");
  }

  @Test
  void aWindowThatDoesNotFitItsJournalFencesTheQueue() throws Exception {
    OwnedQueue owned = own();
    journal.refuses = true;
    journal.refusal = new IllegalArgumentException("made by the test");
    seal(owned, 10);

    assertEnded();
    assertThat(calls).containsExactly("append 10", "hide");
    assertThat(ownership.refusedFrom()).isEqualTo(QueueSealing.NONE);
  }

  @Test
  void aFailedClaimIsRepeatedAfterAPauseThatDoubles() throws Exception {
    journal.failures = 3;
    step();
    assertThat(ownership.unread().reason()).contains("made by the test");
    assertThat(step()).isEqualTo(Duration.ofMillis(200));
    pass(Duration.ofMillis(199));
    assertThat(step()).isEqualTo(Duration.ofMillis(1));
    pass(Duration.ofMillis(1));
    step();
    assertThat(step()).isEqualTo(Duration.ofMillis(400));
    pass(Duration.ofSeconds(4));
    step();
    pass(Duration.ofSeconds(1));
    step();

    assertThat(calls)
        .containsExactly(
            "claim, waits 3",
            "claim, waits 2",
            "claim, waits 0",
            "claim, waits 0",
            "restored",
            "extend");
  }

  @Test
  void aQueueThatIsReleasedBeforeItsClaimIsNotClaimed() throws Exception {
    ownership.release();

    assertEnded();
    assertThat(calls).isEmpty();
  }

  @Test
  void ofOneBrokerTwoQueuesAreClaimedAtATimeInTurn() throws Exception {
    FairPermits permits = new FairPermits(1);
    List<String> woken = new ArrayList<>();
    Runnable first = () -> woken.add("first");
    Runnable second = () -> woken.add("second");
    Runnable third = () -> woken.add("third");
    assertThat(permits.tryAcquire(first)).isTrue();
    assertThat(permits.tryAcquire(second)).isFalse();
    assertThat(permits.tryAcquire(third)).isFalse();
    permits.release();
    assertThat(woken).containsExactly("second");
    assertThat(permits.tryAcquire(third)).isFalse();
    permits.withdraw(second);
    assertThat(woken).containsExactly("second", "third");
    assertThat(permits.tryAcquire(third)).isTrue();
  }

  @Test
  void aQueueHasOneOwnershipAtATime() throws Exception {
    assertThat(ownerships.take(QUEUE, decoder)).isNull();
    ownership.release();
    assertEnded();

    assertThat(ownerships.take(QUEUE, decoder)).isNotNull();
  }

  @Test
  void aWindowIsAppendedThenShownThenCommitted() throws Exception {
    OwnedQueue owned = own();
    seal(owned, 5);
    assertThat(owned.canSwap()).isFalse();
    step();

    assertThat(calls).containsExactly("append 5", "show 5", "extend", "commit");
    assertThat(owned.keptTo()).isEqualTo(5);
    assertThat(owned.canSwap()).isTrue();
  }

  @Test
  void aFailedAppendIsRepeatedBeforeAnythingElseHappens() throws Exception {
    OwnedQueue owned = own();
    journal.failures = 2;
    journal.snapshotDue = true;
    seal(owned, 5);
    ownership.release();
    assertThat(step()).isEqualTo(Duration.ofMillis(100));
    assertThat(step()).isEqualTo(Duration.ofMillis(100));
    pass(Duration.ofMillis(100));
    assertThat(step()).isEqualTo(Duration.ofMillis(200));
    pass(Duration.ofMillis(200));
    assertThat(step()).isZero();

    assertThat(calls)
        .containsExactly("append 5", "append 5", "append 5", "show 5", "extend", "commit");
    calls.clear();
    assertEnded();
    assertThat(calls).containsExactly("hide", "release");
  }

  @Test
  void aFencedQueueIsHiddenAndNotReleased() throws Exception {
    OwnedQueue owned = own();
    journal.outcome = QueueJournal.Outcome.FENCED;
    seal(owned, 5);

    assertEnded();
    assertThat(calls).containsExactly("append 5", "hide");
    assertThat(owned.keptTo()).isEqualTo(-1);
  }

  @Test
  void theLeaseIsRenewedWhenAThirdOfItHasPassed() throws Exception {
    own();
    assertThat(step()).isEqualTo(Duration.ofSeconds(1));
    assertThat(calls).isEmpty();
    pass(Duration.ofSeconds(9));
    step();
    assertThat(calls).isEmpty();
    pass(Duration.ofSeconds(1));
    step();

    assertThat(calls).containsExactly("renew", "extend");
  }

  @Test
  void aFailedRenewalIsRepeatedAndExtendsNothing() throws Exception {
    own();
    pass(Duration.ofSeconds(10));
    journal.failures = 1;
    step();
    step();
    assertThat(calls).containsExactly("renew");
    pass(Duration.ofMillis(100));
    step();

    assertThat(calls).containsExactly("renew", "renew", "extend");
  }

  @Test
  void aFencedRenewalEndsTheOwnership() throws Exception {
    own();
    pass(Duration.ofSeconds(10));
    journal.outcome = QueueJournal.Outcome.FENCED;

    assertEnded();
    assertThat(calls).containsExactly("renew", "hide");
  }

  @Test
  void aFailedSnapshotIsRepeatedAfterHalfAMinute() throws Exception {
    own();
    journal.snapshotDue = true;
    journal.failures = 1;
    step();
    pass(Duration.ofSeconds(1));
    step();
    assertThat(calls).containsExactly("snapshot");
    pass(Duration.ofSeconds(29));
    step();
    assertThat(calls).containsExactly("snapshot", "renew", "extend");
    step();

    assertThat(calls).containsExactly("snapshot", "renew", "extend", "snapshot", "extend");
  }

  @Test
  void oneQueueWritesASnapshotAtATime() throws Exception {
    own();
    journal.snapshotDue = true;
    shared.snapshots().acquire();
    step();
    assertThat(calls).isEmpty();
    shared.snapshots().release();
    step();

    assertThat(calls).containsExactly("snapshot", "extend");
  }

  @Test
  void anInterruptedOwnershipIsHiddenAndNotReleased() throws Exception {
    own();
    ownership.onEnd();

    assertThat(calls).containsExactly("hide");
    assertThat(ownership.ended()).isTrue();
  }
}
