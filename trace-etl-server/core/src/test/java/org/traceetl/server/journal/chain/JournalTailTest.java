package org.traceetl.server.journal.chain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.journal.ForwardingLog;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.QueueId;

/** Tests tails that begin at a time, that missed records, and their pace. */
class JournalTailTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final JournalTiming TIMING =
      new JournalTiming(
          new Clocks(System::nanoTime, Clocks.SYSTEM.wall(), nanos -> {}),
          new Random(1),
          Duration.ofSeconds(30),
          Duration.ofMinutes(10));

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLogs.MemoryLog log = logs.open(QUEUE);
  private final JournalCounters counters = new JournalCounters();
  private final List<QueueImage> images = new ArrayList<>();
  private final LogJournals journals =
      new LogJournals(logs, "trace-spans", "servers", Windows::newImage, TIMING, counters);
  private QueueJournal owner;

  @BeforeEach
  void own() throws Exception {
    owner = journals.take(QUEUE).journal();
    append(0, 10);
    append(10, 12);
  }

  private void append(long from, long to) throws Exception {
    owner.append(Windows.window(QUEUE, from, to, to - from, 1, 0));
  }

  private static List<Long> ends(List<JournalTail.Kept> kept) {
    return kept.stream().map(one -> one.window().to()).toList();
  }

  @Test
  void aTailOfATimeReadsAllWindowsOfAWholeLog() throws Exception {
    JournalTail tail = journals.tail(QUEUE, 0, images::add);
    assertThat(tail.lag()).isEqualTo(log.end());

    assertThat(ends(tail.poll())).containsExactly(10L, 12L);
    owner.snapshot();
    append(12, 13);
    assertThat(ends(tail.poll())).containsExactly(13L);
    assertThat(images).isEmpty();
    assertThat(tail.lag()).isZero();
  }

  @Test
  void noSnapshotIsWrittenOfAStateThatTheLogHasLost() throws Exception {
    log.deleteBefore(log.end() - 1);

    assertThatThrownBy(owner::snapshot)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no longer has its beginning");
    assertThat(counters.snapshots()).isZero();
    journals.take(QUEUE);
    assertThat(counters.lostHistories()).isEqualTo(1);
  }

  @Test
  void aTailBeforeASnapshotDropsWindowsThatTheStateContains() throws Exception {
    log.deleteBefore(log.end() - 1);
    journals.take(QUEUE).journal().snapshot();
    JournalTail tail = journals.tail(QUEUE, 0, images::add);

    assertThat(tail.poll()).isEmpty();
    assertThat(images).hasSize(1);
  }

  @Test
  void recordsDeletedBeforeTheyWereReadAreCountedOnce() throws Exception {
    JournalTail tail = journals.tail(QUEUE, "sink");
    tail.poll();
    append(12, 13);
    append(13, 14);
    log.deleteBefore(log.end() - 1);
    tail.poll();
    append(14, 15);

    assertThat(ends(tail.poll())).containsExactly(15L);
    assertThat(counters.lostHistories()).isEqualTo(1);
  }

  @Test
  void aMarkThatWasDeletedIsALossThatIsCounted() throws Exception {
    JournalTail tail = journals.tail(QUEUE, "sink");
    tail.mark(tail.poll().getFirst().offset());
    log.deleteBefore(log.end() - 1);

    journals.tail(QUEUE, "sink").poll();
    assertThat(counters.lostHistories()).isEqualTo(1);
  }

  /** Fails at the next calls. */
  private static final class FailingOpening implements PacedTail.Opening<JournalTail.Kept> {
    private final JournalTail tail;
    private Exception failure;

    FailingOpening(JournalTail tail) {
      this.tail = tail;
    }

    @Override
    public JournalTail open() throws IOException {
      switch (failure) {
        case IOException e -> throw e;
        case RuntimeException e -> throw e;
        case null, default -> {
          return tail;
        }
      }
    }
  }

  @Test
  void aPacedTailRestsAtTheEndAndAfterFailures() throws Exception {
    FailingOpening opening = new FailingOpening(journals.tail(QUEUE, "sink"));
    PacedTail<JournalTail.Kept> tail = new PacedTail<>(QUEUE, opening, 5, new LogThrottle(() -> 0));
    assertThat(tail.queue()).isEqualTo(QUEUE);
    assertThat(tail.dueInNanos(5)).isZero();
    assertThat(tail.restart()).isEqualTo(JournalLog.NONE);
    tail.observe(5);

    opening.failure = new IOException("made by the test");
    assertThat(tail.read(5)).isEmpty();
    assertThat(tail.dueInNanos(5)).isEqualTo(3 * SECOND);
    tail.expectMore(6);
    assertThat(tail.dueInNanos(5)).isEqualTo(3 * SECOND);
    opening.failure = new IllegalStateException("made by the test");
    assertThat(tail.read(7)).isEmpty();
    tail.observe(7);

    opening.failure = null;
    assertThat(tail.read(10)).hasSize(2);
    assertThat(tail.dueInNanos(10)).isZero();
    assertThat(tail.atEnd()).isFalse();
    assertThat(tail.read(11)).isEmpty();
    assertThat(tail.atEnd()).isTrue();
    assertThat(tail.dueInNanos(11)).isEqualTo(SECOND);
    assertThat(tail.read(12)).isEmpty();
    assertThat(tail.restart()).isNotNegative();
    assertThat(tail.mark(tail.restart())).isTrue();

    tail.observe(13);
    assertThat(tail.lag()).isZero();
    tail.observe(11 + SECOND);
    assertThat(tail.atEnd()).isTrue();
    owner.renew();
    tail.observe(11 + 2 * SECOND);
    assertThat(tail.lag()).isEqualTo(1);
    assertThat(tail.atEnd()).isFalse();
    tail.expectMore(20);
    assertThat(tail.dueInNanos(20)).isZero();
  }

  /** A log whose next calls can fail, and whose end may lag. */
  private final class FailingLogs implements JournalLogs {
    private boolean fails;
    private long hidden;

    @Override
    public JournalLog open(QueueId queue) {
      return new ForwardingLog(log) {
        @Override
        public long end() throws IOException, InterruptedException {
          fail();
          return log.end() + hidden;
        }

        @Override
        public void mark(String group, long offset) throws IOException, InterruptedException {
          fail();
          log.mark(group, offset);
        }
      };
    }

    private void fail() throws IOException {
      if (fails) {
        throw new IOException("made by the test");
      }
    }

    @Override
    public void close() {}
  }

  @Test
  void aPacedTailReadsSoonAgainWhileTheLogLags() throws Exception {
    FailingLogs failing = new FailingLogs();
    LogJournals other =
        new LogJournals(failing, "trace-spans", "servers", Windows::newImage, TIMING, counters);
    PacedTail<JournalTail.Kept> tail =
        new PacedTail<>(QUEUE, () -> other.tail(QUEUE, "sink"), 0, new LogThrottle(() -> 0));
    assertThat(tail.read(0)).hasSize(2);
    failing.hidden = 1;
    assertThat(tail.read(1)).isEmpty();
    assertThat(tail.dueInNanos(1)).isEqualTo(SECOND / 100);
    failing.fails = true;
    assertThat(tail.mark(3)).isFalse();
    assertThat(tail.mark(4)).isFalse();
    tail.observe(2 * SECOND);
    assertThat(tail.dueInNanos(2 * SECOND)).isEqualTo(3 * SECOND);
  }
}
