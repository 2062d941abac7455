package org.traceetl.server.journal.chain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.journal.ForwardingLog;
import org.traceetl.server.journal.InconsistentWindowException;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.Journal.Taken;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.QueueJournal.Outcome;
import org.traceetl.server.journal.RandomWindows;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.ChunkFormatTest;
import org.traceetl.server.journal.format.LastMessagesFormat;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordKind;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

class LogJournalsTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final String GROUP = "servers";
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration INTERVAL = Duration.ofMinutes(10);
  private static final int CHUNK = 100;

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLogs.MemoryLog log = logs.open(QUEUE);
  private final JournalCounters counters = new JournalCounters();
  private final Random random = new Random(1);
  private long nowNanos = 1_000_000_000_000L;

  /** Offset of the wall clock. */
  private long stepMillis;

  private final JournalTiming timing =
      new JournalTiming(
          new Clocks(
              () -> nowNanos,
              () -> Instant.ofEpochMilli(1_800_000_000_000L + stepMillis + nowNanos / 1_000_000),
              this::pause),
          random,
          LEASE,
          INTERVAL);
  private final LogJournals one = server();
  private final LogJournals other = server();

  /** Releases its queue as soon as a taker waits. */
  private QueueJournal leaving;

  private void pause(long nanos) {
    nowNanos += nanos;
    if (leaving != null) {
      try {
        leaving.release();
      } catch (IOException | InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private LogJournals server() {
    return new LogJournals(logs, "trace-spans", GROUP, Windows::newImage, timing, counters, CHUNK);
  }

  private static SealedWindow window(long from, long to) {
    return Windows.window(QUEUE, from, to, to - from, 1, 0);
  }

  @Test
  void anOwnerGoesOnWhereTheLastOneEnded() throws Exception {
    Taken first = one.take(QUEUE);
    assertThat(first.image().to()).isEqualTo(JournalLog.NONE);
    assertThat(first.journal().append(window(0, 10))).isEqualTo(Outcome.KEPT);
    assertThat(first.journal().append(window(10, 15))).isEqualTo(Outcome.KEPT);

    Taken second = other.take(QUEUE);

    assertThat(second.image().to()).isEqualTo(15);
    assertThat(Windows.totals(second.image())).containsExactly(15, 2, 0);
    assertThat(second.journal().append(window(15, 16))).isEqualTo(Outcome.KEPT);
  }

  @Test
  void recordsOfATakeOverAreNotRejected() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    other.take(QUEUE).journal().append(window(10, 20));

    one.take(QUEUE);

    assertThat(counters.rejections()).allSatisfy((reason, times) -> assertThat(times).isZero());
  }

  @Test
  void aClaimFencesTheOwnerBefore() throws Exception {
    QueueJournal fenced = one.take(QUEUE).journal();
    fenced.append(window(0, 10));
    QueueJournal owner = other.take(QUEUE).journal();

    assertThat(fenced.append(window(10, 20))).isEqualTo(Outcome.FENCED);
    assertThat(fenced.renew()).isEqualTo(Outcome.FENCED);
    assertThat(fenced.snapshot()).isEqualTo(Outcome.FENCED);
    assertThat(owner.append(window(10, 11))).isEqualTo(Outcome.KEPT);
    assertThat(Windows.totals(one.take(QUEUE).image())).containsExactly(11, 2, 0);
    assertThat(counters.rejections(RecordRejection.STALE)).isPositive();
    assertThat(counters.fences()).isEqualTo(1);
  }

  @Test
  void anOwnerShowsNothingWhileTheOneBeforeMay() throws Exception {
    Taken first = one.take(QUEUE);
    assertThat(first.showFromNanos()).isEqualTo(nowNanos);
    nowNanos += 1_000;
    first.journal().append(window(0, 10));
    long shownUntilNanos = first.journal().shownUntilNanos();
    assertThat(shownUntilNanos).isEqualTo(nowNanos + LEASE.toNanos());
    nowNanos += 1_000;

    Taken second = other.take(QUEUE);

    assertThat(second.showFromNanos()).isGreaterThan(shownUntilNanos);
  }

  @Test
  void anOwnerThatHasReleasedIsNotWaitedFor() throws Exception {
    QueueJournal first = one.take(QUEUE).journal();
    first.append(window(0, 10));
    first.release();

    assertThat(other.take(QUEUE).showFromNanos()).isEqualTo(nowNanos);
    assertThat(first.append(window(10, 20))).isEqualTo(Outcome.FENCED);
  }

  @Test
  void anOwnerThatIsAboutToReleaseIsGivenTheTime() throws Exception {
    leaving = one.take(QUEUE).journal();
    leaving.append(window(0, 10));

    Taken taken = other.take(QUEUE, Duration.ofSeconds(3), () -> true);

    assertThat(taken.showFromNanos()).isEqualTo(nowNanos);
    assertThat(taken.image().to()).isEqualTo(10);
  }

  @Test
  void anOwnerThatSaysNothingIsNotWaitedForLongerThanPatienceLasts() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    long beganNanos = nowNanos;

    assertThat(other.take(QUEUE, Duration.ofSeconds(3), () -> true).image().to()).isEqualTo(10);
    assertThat(nowNanos - beganNanos).isBetween(3_000_000_000L, 3_500_000_000L);
  }

  @Test
  void aQueueThatIsNotWantedAnyMoreIsLeftToItsOwner() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    long beganNanos = nowNanos;

    Taken taken =
        other.take(QUEUE, Duration.ofSeconds(3), () -> nowNanos - beganNanos < 1_000_000_000);

    assertThat(taken).isNull();
    assertThat(owner.append(window(10, 20))).isEqualTo(Outcome.KEPT);
  }

  @Test
  void aReleaseDoesNotCoverTheOwnerBefore() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    QueueJournal waiting = other.take(QUEUE).journal();
    waiting.release();

    long claimedNanos = nowNanos;
    assertThat(server().take(QUEUE).showFromNanos())
        .isGreaterThanOrEqualTo(claimedNanos + LEASE.toNanos());
  }

  @Test
  void anEarlierClaimOfTheSameProcessIsNotTakenForTheNewOne() throws Exception {
    JournalLog late = new LateLog(log);
    try (LogJournals journals =
        new LogJournals(
            new JournalLogs() {
              @Override
              public JournalLog open(QueueId queue) {
                return late;
              }

              @Override
              public void close() {}
            },
            "trace-spans",
            GROUP,
            Windows::newImage,
            timing,
            counters,
            CHUNK)) {
      journals.take(QUEUE).journal().release();

      Taken again = journals.take(QUEUE);

      assertThat(again.journal().append(window(0, 10))).isEqualTo(Outcome.KEPT);
    }
  }

  /** Hides its messages until its second append: the first claim, then its release. */
  private static final class LateLog extends ForwardingLog {
    private int written;

    LateLog(JournalLog log) {
      super(log);
    }

    @Override
    public long append(byte[] message) throws IOException, InterruptedException {
      written++;
      return log.append(message);
    }

    @Override
    public List<Entry> read(long from) throws IOException, InterruptedException {
      return written > 2 ? log.read(from) : List.of();
    }

    @Override
    public long end() throws IOException, InterruptedException {
      return written > 2 ? log.end() : 0;
    }
  }

  @Test
  void aProcessDoesNotWaitForItself() throws Exception {
    one.take(QUEUE);

    assertThat(one.take(QUEUE).showFromNanos()).isEqualTo(nowNanos);
  }

  @Test
  void aRenewalProlongsTheLease() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    nowNanos += 5_000;

    assertThat(owner.renew()).isEqualTo(Outcome.KEPT);
    assertThat(owner.shownUntilNanos()).isEqualTo(nowNanos + LEASE.toNanos());
  }

  @Test
  void aRenewalThatIsNotConfirmedDoesNotProlongTheLease() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    long shownUntilNanos = owner.shownUntilNanos();
    nowNanos += 5_000;
    log.leaveUnconfirmed(true);

    assertThatThrownBy(owner::renew).isInstanceOf(IOException.class);
    assertThat(owner.shownUntilNanos()).isEqualTo(shownUntilNanos);

    log.leaveUnconfirmed(false);
    assertThat(owner.renew()).isEqualTo(Outcome.KEPT);
    assertThat(owner.shownUntilNanos()).isEqualTo(nowNanos + LEASE.toNanos());
  }

  @Test
  void aWindowThatCanBeReadButIsNotConfirmedIsNotKept() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    log.leaveUnconfirmed(true);
    SealedWindow window = window(0, 10);
    for (int attempt = 0; attempt < 3; attempt++) {
      assertThatThrownBy(() -> owner.append(window)).isInstanceOf(IOException.class);
    }

    log.leaveUnconfirmed(false);
    assertThat(owner.append(window)).isEqualTo(Outcome.KEPT);
    assertThat(owner.append(window(10, 12))).isEqualTo(Outcome.KEPT);
    assertThat(Windows.totals(other.take(QUEUE).image())).containsExactly(12, 2, 0);
  }

  @Test
  void aWindowThatIsLostBeforeItIsConfirmedIsAppendedAgain() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    long end = log.end();
    log.leaveUnconfirmed(true);
    SealedWindow window = window(0, 10);
    assertThatThrownBy(() -> owner.append(window)).isInstanceOf(IOException.class);
    log.deleteFrom(end);
    log.leaveUnconfirmed(false);

    assertThat(owner.append(window)).isEqualTo(Outcome.KEPT);
    assertThat(Windows.totals(other.take(QUEUE).image())).containsExactly(10, 1, 0);
  }

  @Test
  void aQueueWhoseClaimIsNotConfirmedIsNotTaken() throws Exception {
    log.leaveUnconfirmed(true);
    assertThatThrownBy(() -> one.take(QUEUE)).isInstanceOf(IOException.class);
  }

  /** Earlier versions do not know renewals: they read each one as an outdated claim. */
  @Test
  void aRenewalCountsForNothingButItsWriter() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    nowNanos += 1_000_000_000;
    assertThat(owner.renew()).isEqualTo(Outcome.KEPT);
    owner.append(window(10, 12));

    ChunkFormat format = new ChunkFormat("trace-spans", QUEUE, CHUNK);
    assertThat(log.read(0))
        .extracting(entry -> format.read(entry.body()).header())
        .filteredOn(header -> header.kind() == RecordKind.CLAIM)
        .extracting(RecordHeader::epoch)
        .containsExactly(1L, 1L);
    assertThat(Windows.totals(other.take(QUEUE).image())).containsExactly(12, 2, 0);
    assertThat(counters.rejections(RecordRejection.STALE)).isZero();
  }

  private static LastMessages places(long... ends) {
    LastMessages read = LastMessages.NONE;
    for (long end : ends) {
      read = read.with(end, (int) end * -7, LastMessages.MAX_WINDOWS);
    }
    return read;
  }

  @Test
  void aQueueIsNotTakenByWhatItsJournalLostBeforeTheClaim() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    final long confirmed = log.end();
    log.store(new byte[] {1, 2, 3});

    // The master loses that message and becomes master again; a rival has claimed the queue.
    assertTakeFails(
            () -> {
              log.deleteFrom(confirmed);
              claim(2, confirmed);
            })
        .hasMessageContaining("lost its message " + confirmed);
    assertThat(other.take(QUEUE).image().to()).isEqualTo(10);
  }

  @Test
  void aTakeByAClaimThatTheJournalLostLeavesTheHistoryKnown() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    final long confirmed = log.end();
    claim(2, confirmed);

    // The master loses that claim and becomes master again.
    assertTakeFails(() -> log.deleteFrom(confirmed));
    assertThat(other.take(QUEUE).image().to()).isEqualTo(10);
    assertThat(counters.lostHistories()).isZero();
  }

  /**
   * @param meanwhile runs after the take has read the log, before its first append
   */
  private AbstractThrowableAssert<?, ? extends Throwable> assertTakeFails(Runnable meanwhile)
      throws Exception {
    Journal.TakeOver takeOver = other.takeOver(QUEUE, Duration.ZERO);
    assertThat(takeOver.step()).isNull();
    meanwhile.run();
    return assertThatThrownBy(takeOver::step).isInstanceOf(IOException.class);
  }

  /** Stores a claim of another process. */
  private void claim(long epoch, long offset) {
    RecordHeader rival = new RecordHeader(RecordKind.CLAIM, new UUID(7, 7), epoch, 1, -1, 10, 0);
    ChunkFormat format = new ChunkFormat("trace-spans", QUEUE, CHUNK);
    assertThat(log.store(format.write(rival, LogRecord.NO_PAYLOAD).getFirst())).isEqualTo(offset);
  }

  @Test
  void aQueueIsTakenWithTheLastMessagesOfItsWindows() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10), places(10));
    owner.append(window(10, 12), places(10, 12));

    Taken taken = other.take(QUEUE);

    assertThat(taken.lastMessages()).isEqualTo(places(10, 12));
    assertThat(Windows.totals(taken.image())).containsExactly(12, 2, 0);
  }

  @Test
  void theLastMessagesAreKnownBehindASnapshot() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    LastMessages many = places(LongStream.rangeClosed(1, 40).toArray());
    owner.append(window(0, 40), many);
    assertThat(owner.snapshot()).isEqualTo(Outcome.KEPT);
    log.deleteBefore(log.mark(GROUP));
    QueueJournal next = one.take(QUEUE).journal();
    assertThat(next.snapshot()).isEqualTo(Outcome.KEPT);
    log.deleteBefore(log.mark(GROUP));

    Taken taken = other.take(QUEUE);

    assertThat(taken.lastMessages()).isEqualTo(many);
    assertThat(many.size()).isEqualTo(LastMessages.MAX_WINDOWS);
  }

  @Test
  void aPlaceIsUnknownWhoseWindowWasNotKept() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10), places(10));
    long end = log.end();
    log.leaveUnconfirmed(true);
    assertThatThrownBy(() -> owner.append(window(10, 12), places(10, 12)))
        .isInstanceOf(IOException.class);
    log.leaveUnconfirmed(false);
    assertThat(log.end()).isGreaterThan(end);

    assertThat(other.take(QUEUE).lastMessages()).isEqualTo(places(10));
  }

  @Test
  void aTailPassesOverTheLastMessages() throws Exception {
    JournalTail tail = other.tail(QUEUE, "sink");
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10), places(10));
    owner.append(window(10, 12), places(10, 12));

    assertThat(tail.poll()).extracting(kept -> kept.window().to()).containsExactly(10L, 12L);
    assertThat(counters.rejections()).allSatisfy((reason, times) -> assertThat(times).isZero());
  }

  @Test
  void lastMessagesOfAnotherFormatSayNothing() throws Exception {
    assertThat(LastMessagesFormat.decode(new byte[] {1, 9, 9, 9})).isNull();
    assertThat(LastMessagesFormat.decode(new byte[] {3, 9, 9, 9})).isNull();
    assertThat(LastMessagesFormat.decode(new byte[0])).isNull();
    assertThatThrownBy(() -> LastMessagesFormat.decode(new byte[] {2, 9, 9, 9}))
        .isInstanceOf(MalformedRecordException.class);
  }

  @Test
  void rubbishInTheLogChangesNothing() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    log.append(new byte[] {1, 2, 3});
    assertThat(owner.append(window(0, 10))).isEqualTo(Outcome.KEPT);
    log.append(new byte[0]);
    assertThat(owner.renew()).isEqualTo(Outcome.KEPT);

    assertThat(Windows.totals(other.take(QUEUE).image())).containsExactly(10, 1, 0);
    assertThat(counters.rejections(RecordRejection.FOREIGN)).isEqualTo(4);
  }

  @Test
  void aServerDoesNotTakeAQueueWhoseJournalALaterVersionHasWritten() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    byte[] last = log.read(0).getLast().body();
    log.append(ChunkFormatTest.ofVersion(3, last));

    for (int attempt = 0; attempt < 2; attempt++) {
      assertThatThrownBy(() -> other.take(QUEUE))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("version 3")
          .hasMessageContaining("start that version");
    }
    assertThat(counters.rejections(RecordRejection.VERSION)).isEqualTo(2);
  }

  @Test
  void anOperatorsStepTakesAllReadersPastWhatStopsThem() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    JournalTail tail = one.tail(QUEUE, "index");
    byte[] last = log.read(0).getLast().body();
    long stopping = log.append(ChunkFormatTest.ofVersion(3, last));

    LogJournals.Stop stop = other.stop(QUEUE);
    assertThat(stop.offset()).isEqualTo(stopping);
    other.stepOver(QUEUE, stop, "forged");

    assertThat(other.stop(QUEUE)).isNull();
    assertThat(owner.append(window(10, 15))).isEqualTo(Outcome.KEPT);
    assertThat(owner.snapshot()).isEqualTo(Outcome.KEPT);
    assertThat(Windows.totals(other.take(QUEUE).image())).containsExactly(15, 2, 0);
    List<Long> ends = new ArrayList<>();
    while (ends.size() < 2) {
      tail.poll().forEach(kept -> ends.add(kept.window().to()));
    }
    assertThat(ends).containsExactly(10L, 15L);
  }

  /** If a log has lost its tail, another message may have the offset. */
  @Test
  void aStepIsOverOneMessageAndNoOtherOfItsOffset() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    byte[] last = log.read(0).getLast().body();
    long stopping = log.append(ChunkFormatTest.ofVersion(3, last));
    one.stepOver(QUEUE, one.stop(QUEUE), "forged");
    byte[] step = log.read(stopping + 1).getFirst().body();
    log.deleteFrom(stopping);
    log.append(ChunkFormatTest.ofVersion(4, last));
    log.append(step);

    assertThat(one.stop(QUEUE).offset()).isEqualTo(stopping);
  }

  @Test
  void aStepOverAMessageThatCanBeReadChangesNothing() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    long windowAt = log.end();
    owner.append(window(0, 10));
    one.stepOver(QUEUE, new LogJournals.Stop(windowAt, ""), "no reason");

    assertThat(owner.append(window(10, 15))).isEqualTo(Outcome.KEPT);
    assertThat(Windows.totals(other.take(QUEUE).image())).containsExactly(15, 2, 0);
  }

  @Test
  void anOwnerGivesUpAQueueWhoseJournalALaterVersionHasWritten() throws Exception {
    QueueJournal appending = one.take(QUEUE).journal();
    QueueId otherQueue = new QueueId("broker-a", 1);
    QueueJournal renewing = one.take(otherQueue).journal();
    for (QueueId queue : List.of(QUEUE, otherQueue)) {
      JournalLog written = logs.open(queue);
      written.append(ChunkFormatTest.ofVersion(2, written.read(0).getLast().body()));
    }

    assertThat(appending.append(window(0, 10))).isEqualTo(Outcome.FENCED);
    assertThat(appending.append(window(0, 10))).isEqualTo(Outcome.FENCED);
    assertThat(renewing.renew()).isEqualTo(Outcome.FENCED);
    assertThat(counters.fences()).isEqualTo(2);
    assertThat(counters.rejections(RecordRejection.VERSION)).isEqualTo(2);
  }

  @Test
  void noReaderGoesPastAWindowOfALaterVersion() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    ChunkFormat format = new ChunkFormat("trace-spans", QUEUE, CHUNK);
    RecordHeader last = format.read(log.read(0).getLast().body()).header();
    RecordHeader next =
        new RecordHeader(
            RecordKind.WINDOW, last.writer(), last.epoch(), last.number() + 1, 10, 20, 0);
    byte[] payload = new byte[3 * CHUNK];
    payload[0] = 99;
    format.write(next, payload).forEach(log::store);
    JournalTail tail = one.tail(QUEUE, "index");

    assertThatThrownBy(() -> other.take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 99");
    assertThat(tail.poll()).extracting(kept -> kept.window().to()).containsExactly(10L);
    for (int attempt = 0; attempt < 3; attempt++) {
      assertThatThrownBy(tail::poll)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("version 99");
    }
    assertThat(tail.lag()).isPositive();
    assertThat(counters.rejections(RecordRejection.VERSION)).isEqualTo(4);
  }

  @Test
  void aSnapshotReplacesWhatWasBefore() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    assertThat(owner.snapshotDue()).isFalse();
    nowNanos += INTERVAL.toNanos();
    assertThat(owner.snapshotDue()).isTrue();

    assertThat(owner.snapshot()).isEqualTo(Outcome.KEPT);

    assertThat(owner.snapshotDue()).isFalse();
    owner.append(window(10, 12));
    log.deleteBefore(log.mark(GROUP));
    assertThat(Windows.totals(other.take(QUEUE).image())).containsExactly(12, 2, 0);
    assertThat(counters.lostHistories()).isZero();
  }

  @Test
  void aJournalThatHasLostItsStateIsReplayedOnceAnHour() throws Exception {
    AtomicInteger reads = new AtomicInteger();
    QueueJournal owner =
        serverOf(
                new ForwardingLog(log) {
                  @Override
                  public List<Entry> read(long offset) throws IOException, InterruptedException {
                    reads.incrementAndGet();
                    return super.read(offset);
                  }
                })
            .take(QUEUE)
            .journal();
    owner.append(window(0, 10));
    log.deleteBefore(log.end() - 1);
    assertThatThrownBy(owner::snapshot).hasMessageContaining("no longer has its beginning");
    reads.set(0);

    assertThatThrownBy(owner::snapshot).hasMessageContaining("no longer has its beginning");
    assertThat(reads).hasValue(0);
    nowNanos += Duration.ofHours(1).toNanos();
    assertThatThrownBy(owner::snapshot).hasMessageContaining("no longer has its beginning");
    assertThat(reads).hasPositiveValue();
  }

  @Test
  void aStepOfTheWallClockNeitherStopsNorHurriesSnapshots() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    stepMillis = Duration.ofDays(1).toMillis();
    assertThat(owner.snapshotDue()).isFalse();

    stepMillis = -Duration.ofDays(1).toMillis();
    nowNanos += INTERVAL.toNanos();
    assertThat(owner.snapshotDue()).isTrue();
    assertThat(owner.snapshot()).isEqualTo(Outcome.KEPT);

    stepMillis = -Duration.ofDays(2).toMillis();
    assertThat(owner.snapshotDue()).isFalse();
    nowNanos += INTERVAL.toNanos();
    assertThat(owner.snapshotDue()).isTrue();
  }

  @Test
  void aSnapshotIsFoundWithoutItsMark() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    owner.snapshot();
    owner.append(window(10, 12));
    log.deleteBefore(log.mark(GROUP));
    log.unmark(GROUP);

    assertThat(Windows.totals(other.take(QUEUE).image())).containsExactly(12, 2, 0);
    assertThat(counters.lostHistories()).isZero();
  }

  @Test
  void aLogThatHasLostItsBeginGoesOnAndSaysSo() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    owner.append(window(10, 12));
    owner.append(window(12, 15));
    JournalTail tail = one.tail(QUEUE, "sink");
    tail.poll();
    log.deleteBefore(log.end());

    Taken taken = other.take(QUEUE);

    assertThat(counters.lostHistories()).isEqualTo(1);
    SealedWindow repeated = Windows.window(QUEUE, 20, 30, AcceptedBatches.NONE, true, 10, 1, 0);
    assertThat(taken.journal().append(repeated)).isEqualTo(Outcome.KEPT);
    assertThat(taken.journal().snapshotDue()).isTrue();
    assertThat(taken.journal().snapshot()).isEqualTo(Outcome.KEPT);
    assertThat(taken.journal().append(window(30, 31))).isEqualTo(Outcome.KEPT);
    assertThat(server().take(QUEUE).image().to()).isEqualTo(31);
    assertThat(owner.append(window(15, 16))).isEqualTo(Outcome.FENCED);
    assertThat(tail.poll()).extracting(kept -> kept.window().to()).containsExactly(30L, 31L);
  }

  @Test
  void aLogThatHasLostItsEndFencesItsOwner() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    owner.append(window(10, 12));
    log.deleteFrom(log.end() - 2);

    assertThat(owner.renew()).isEqualTo(Outcome.FENCED);
  }

  @Test
  void aWindowThatDoesNotAdjoinIsTheCallersMistake() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));

    assertThatThrownBy(() -> owner.append(window(11, 12)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be from 10");
  }

  @Test
  void aWindowThatContradictsItsJournalIsNotWrittenAndItsSpansAreReadAgain() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    long end = log.end();

    assertThatThrownBy(() -> owner.append(Windows.window(QUEUE, 10, 12, 1, 1, 1, 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must define series 3");
    assertThatThrownBy(() -> owner.append(window(10, 12), places(10, 13)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must not end before the known place 13");
    assertThatThrownBy(() -> owner.append(Windows.window(QUEUE, 10, 12, -1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("negative count");
    assertThat(log.end()).isEqualTo(end);

    owner.release();
    Taken next = other.take(QUEUE);
    assertThat(next.image().to()).isEqualTo(10);
    assertThat(next.showFromNanos()).isEqualTo(nowNanos);
    assertThat(next.journal().append(window(10, 12))).isEqualTo(Outcome.KEPT);
  }

  @Test
  void aSeriesThatEndedMustBeDefinedAgain() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    owner.append(new RowlessWindow(QUEUE, 10, 12, 0, 0).evicted(1).seal());

    assertThatThrownBy(() -> owner.append(window(12, 13)))
        .hasMessageContaining("must define series 1");
    assertThatThrownBy(() -> other.take(QUEUE).journal().append(window(12, 13)))
        .hasMessageContaining("must define series 1");
  }

  @Test
  void rowsOfSeriesThatNoRecordDefinesAreCountedWhenTheyAreRead() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    // As a writer without the assertion would.
    store(RecordKind.WINDOW, 2, 10, 12, Windows.window(QUEUE, 10, 12, 1, 1, 1, 1));

    Taken next = other.take(QUEUE);

    assertThat(next.image().to()).isEqualTo(12);
    assertThat(counters.rejections(RecordRejection.UNKNOWN_SERIES)).isPositive();
  }

  @Test
  void anInconsistentWindowOfAnEarlierVersionCountsAndItsChainGoesOn() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    JournalTail tail = other.tail(QUEUE, "sink");
    RecordPayloads payloads = new RecordPayloads(Windows::newImage);
    store(RecordKind.WINDOW, 2, 10, 12, payloads.bytesOfInconsistent(inconsistent(window(10, 12))));
    store(RecordKind.WINDOW, 3, 12, 13, payloads.bytesOfInconsistent(inconsistent(window(12, 13))));

    Taken next = other.take(QUEUE);

    assertThat(next.image().to()).isEqualTo(13);
    assertThat(poll(tail)).extracting(k -> k.window().from()).containsExactly(0L, 10L, 12L);
    assertThat(counters.rejections(RecordRejection.INCONSISTENT)).isPositive();
    assertThat(counters.rejections(RecordRejection.MALFORMED)).isZero();
    assertThat(counters.rejections(RecordRejection.OUT_OF_CHAIN)).isZero();
  }

  @Test
  void anInconsistentWindowThatReadersCanDecodeIsWrittenOnRequest() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    SealedWindow unbalanced = inconsistent(window(10, 12));
    assertThatThrownBy(() -> owner.append(unbalanced))
        .isInstanceOf(InconsistentWindowException.class);
    assertThatThrownBy(
            () -> owner.appendInconsistent(Windows.window(QUEUE, 10, 12, -1), LastMessages.NONE))
        .isInstanceOf(InconsistentWindowException.class);

    assertThat(owner.appendInconsistent(unbalanced, LastMessages.NONE)).isEqualTo(Outcome.KEPT);
    assertThat(owner.append(window(12, 13))).isEqualTo(Outcome.KEPT);
    assertThat(other.take(QUEUE).image().to()).isEqualTo(13);
  }

  /** Returns the window with books of more spans than its rows have. */
  private static SealedWindow inconsistent(SealedWindow window) {
    return new SealedWindow(
        window.queue(),
        window.from(),
        window.to(),
        window.openedMillis(),
        window.sealedMillis(),
        window.created(),
        window.evicted(),
        window.rows(),
        window.stride(),
        window.series(),
        window.counts(),
        window.durationNanos(),
        window.exemplars(),
        window.exemplarBuckets(),
        window.documents(),
        List.of(new Books("shop", 1_000, 1_000, 0, 0, 0, Map.of(), 0)),
        window.schema(),
        window.carries(),
        window.batches(),
        window.natives(),
        WindowPanes.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        false,
        EdgeChange.NONE);
  }

  @Test
  void placesThatTheirHeaderContradictsAreRejected() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10), places(10));
    RecordPayloads payloads = new RecordPayloads(Windows::newImage);
    store(RecordKind.CLAIM, 1, 9, 10, payloads.bytes(places(5)));

    assertThat(other.take(QUEUE).lastMessages()).isEqualTo(places(10));
    assertThat(counters.rejections(RecordRejection.MALFORMED)).isPositive();
  }

  private void store(RecordKind kind, long number, long from, long to, SealedWindow window)
      throws IOException {
    store(kind, number, from, to, new RecordPayloads(Windows::newImage).bytes(window));
  }

  /** Stores a record as the queue's owner would. */
  private void store(RecordKind kind, long number, long from, long to, byte[] payload)
      throws IOException {
    ChunkFormat format = new ChunkFormat("trace-spans", QUEUE, CHUNK);
    RecordHeader last = format.read(log.read(0).getLast().body()).header();
    RecordHeader header =
        new RecordHeader(kind, last.writer(), last.epoch(), number, from, to, last.writtenMillis());
    for (byte[] message : format.write(header, payload)) {
      log.append(message);
    }
  }

  @Test
  void aTailTellsEachWindowOnceAndGoesOnBehindItsMark() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    owner.append(window(10, 12));
    JournalTail tail = other.tail(QUEUE, "sink");

    List<JournalTail.Kept> kept = poll(tail);
    assertThat(kept).extracting(k -> k.window().from()).containsExactly(0L, 10L);
    tail.mark(kept.getFirst().offset());
    owner.append(window(12, 13));

    assertThat(poll(tail)).extracting(k -> k.window().from()).containsExactly(12L);
    assertThat(tail.lag()).isZero();
    assertThat(poll(one.tail(QUEUE, "sink")))
        .extracting(k -> k.window().from())
        .containsExactly(10L, 12L);
    assertThat(poll(one.tail(QUEUE, "another"))).hasSize(3);
  }

  @Test
  void aTailWhoseLogEndsBeforeItsMarkReadsAgainAndReportsNoLoss() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    long end = log.end();
    owner.append(window(10, 12));
    JournalTail tail = one.tail(QUEUE, "sink");
    tail.mark(poll(tail).getLast().offset());
    log.deleteFrom(end);

    assertThat(poll(other.tail(QUEUE, "sink")))
        .extracting(k -> k.window().from())
        .containsExactly(0L);
    assertThat(counters.lostHistories()).isZero();
  }

  private static List<JournalTail.Kept> poll(JournalTail tail)
      throws IOException, InterruptedException {
    List<JournalTail.Kept> all = new java.util.ArrayList<>();
    do {
      all.addAll(tail.poll());
    } while (tail.lag() > 0);
    return all;
  }

  @Test
  void aTailReadsAWindowThatTookThePlaceOfALostMessage() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    JournalTail sink = one.tail(QUEUE, "sink");
    JournalTail history = one.tail(QUEUE, 0, image -> {});
    long end = log.end();
    log.store(new byte[] {1});
    log.store(new byte[] {2});
    poll(sink);
    poll(history);
    log.deleteFrom(end);
    owner.append(window(10, 12));
    owner.append(window(12, 15));
    owner.append(window(15, 16));

    for (JournalTail tail : List.of(sink, history)) {
      assertThat(poll(tail)).extracting(k -> k.window().to()).containsExactly(12L, 15L, 16L);
    }
    assertThat(counters.lostHistories()).isZero();
  }

  @Test
  void aTailReadsOnlyOnceAgainForAWindowThatTheLogLost() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    JournalTail tail = one.tail(QUEUE, 0, image -> {});
    poll(tail);
    long end = log.end();
    owner.append(window(10, 12));
    log.deleteFrom(end);
    owner.append(window(12, 15));
    owner.append(window(15, 16));

    assertThat(poll(tail)).isEmpty();
    Map<String, Long> rejections = counters.rejections();
    assertThat(poll(tail)).isEmpty();
    assertThat(counters.rejections()).isEqualTo(rejections);
    assertThat(counters.rejections(RecordRejection.OUT_OF_CHAIN)).isEqualTo(2);
  }

  /** Another server claims the queue, the tail reads the claim, and the log loses it. */
  private void loseClaimAfter(JournalTail tail) throws Exception {
    long end = log.end();
    claim(2, end);
    assertThat(poll(tail)).isEmpty();
    log.deleteFrom(end);
  }

  @Test
  void aTailReadsTheOwnersWindowsAfterTheLogLostAnotherClaim() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    JournalTail sink = one.tail(QUEUE, "sink");
    JournalTail history = one.tail(QUEUE, 0, image -> {});
    for (JournalTail tail : List.of(sink, history)) {
      poll(tail);
      loseClaimAfter(tail);
    }
    owner.append(window(10, 12));
    owner.append(window(12, 15));

    for (JournalTail tail : List.of(sink, history)) {
      assertThat(poll(tail)).extracting(k -> k.window().to()).containsExactly(12L, 15L);
      assertThat(tail.lag()).isZero();
    }
    assertThat(counters.lostHistories()).isZero();
  }

  @Test
  void aTailReadsTheFirstWindowsAfterTheLogLostAnotherClaim() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    JournalTail tail = one.tail(QUEUE, "sink");
    loseClaimAfter(tail);
    owner.append(window(0, 10));
    owner.append(window(10, 12));

    assertThat(poll(tail)).extracting(k -> k.window().to()).containsExactly(10L, 12L);
  }

  @Test
  void aTailGoesOnAfterAnotherClaimTookThePlaceOfItsLastWindow() throws Exception {
    QueueJournal superseded = one.take(QUEUE).journal();
    superseded.append(window(0, 10));
    long end = log.end();
    superseded.append(window(10, 12));
    JournalTail sink = one.tail(QUEUE, "sink");
    JournalTail history = one.tail(QUEUE, 0, image -> {});
    poll(sink);
    poll(history);
    log.deleteFrom(end);
    QueueJournal owner = other.take(QUEUE).journal();
    owner.append(window(10, 13));
    owner.append(window(13, 15));

    for (JournalTail tail : List.of(sink, history)) {
      assertThat(poll(tail)).extracting(k -> k.window().to()).contains(15L);
      assertThat(tail.lag()).isZero();
    }
  }

  @Test
  void aTailReadsNothingAgainForAWindowOfASupersededOwner() throws Exception {
    QueueJournal superseded = one.take(QUEUE).journal();
    superseded.append(window(0, 10));
    JournalTail tail = one.tail(QUEUE, "sink");
    poll(tail);
    QueueJournal owner = other.take(QUEUE).journal();
    assertThat(superseded.append(window(10, 12))).isEqualTo(Outcome.FENCED);
    long rejections = counters.rejections(RecordRejection.STALE);

    assertThat(poll(tail)).isEmpty();
    assertThat(poll(tail)).isEmpty();
    assertThat(counters.rejections(RecordRejection.STALE)).isEqualTo(rejections + 1);
    owner.append(window(10, 13));
    assertThat(poll(tail)).extracting(k -> k.window().to()).containsExactly(13L);
  }

  @Test
  void aTailMarksOnlyWindowsThatItReturned() throws Exception {
    AtomicBoolean fails = new AtomicBoolean();
    LogJournals failing =
        new LogJournals(
            new JournalLogs() {
              @Override
              public JournalLog open(QueueId queue) {
                return new ForwardingLog(log) {
                  @Override
                  public long begin() throws IOException, InterruptedException {
                    if (fails.get()) {
                      throw new IOException("made by the test");
                    }
                    return log.begin();
                  }
                };
              }

              @Override
              public void close() {}
            },
            "trace-spans",
            GROUP,
            Windows::newImage,
            timing,
            counters,
            CHUNK);
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    JournalTail tail = failing.tail(QUEUE, "sink");
    final long first = poll(tail).getLast().offset();
    loseClaimAfter(tail);
    owner.append(window(10, 12));
    owner.append(window(12, 15));

    // Reads the second of them, which the lost claim contradicts.
    assertThat(tail.poll()).isEmpty();
    fails.set(true);
    assertThatThrownBy(tail::poll).isInstanceOf(IOException.class);
    assertThat(tail.lag()).isPositive();
    assertThat(tail.restart()).isEqualTo(first);
    fails.set(false);
    assertThat(poll(tail)).extracting(k -> k.window().to()).containsExactly(12L, 15L);
  }

  @Test
  void aWindowFromTheLogIsTheOneAppended() throws Exception {
    RandomWindows random = new RandomWindows(5);
    LogJournals journals =
        new LogJournals(
            logs,
            "trace-spans",
            GROUP,
            () -> new QueueImage(RandomWindows.SCHEMA, random.stride(), 1 << 20),
            timing,
            counters);
    QueueId queue = RandomWindows.QUEUE;
    QueueJournal owner = journals.take(queue).journal();
    for (int i = 0; i < 50; i++) {
      assertThat(owner.append(random.next())).isEqualTo(Outcome.KEPT);
      if (i % 10 == 9) {
        assertThat(owner.snapshot()).isEqualTo(Outcome.KEPT);
      }
    }
    assertThat(poll(journals.tail(queue, "sink"))).hasSize(50);
  }

  /** Windows and snapshots of a large fleet take several messages, each below a broker's 4 MiB. */
  @Test
  void anOwnerTakesOverTheBatchesOfAHundredThousandAgents() throws Exception {
    int agents = 100_000;
    LogJournals large =
        new LogJournals(
            logs,
            "trace-spans",
            GROUP,
            () -> new QueueImage(Windows.SCHEMA, 1, DeduplicationConfig.defaults().maxBytes()),
            timing,
            counters,
            ChunkFormat.MAX_PAYLOAD_BYTES);
    QueueJournal owner = large.take(QUEUE).journal();
    for (int window = 0; window < 2; window++) {
      AcceptedBatches.Builder batches = new AcceptedBatches.Builder(agents);
      for (int agent = 0; agent < agents; agent++) {
        batches.add(agent * 0x9E37_79B9_7F4A_7C15L, agent, 1, window, window);
      }
      assertThat(
              owner.append(
                  Windows.window(QUEUE, window, window + 1, batches.take(), window == 0, 1, 0, 0)))
          .isEqualTo(Outcome.KEPT);
    }
    assertThat(owner.snapshot()).isEqualTo(Outcome.KEPT);
    owner.release();

    Taken taken = large.take(QUEUE);
    assertThat(taken.image().history().agents()).isEqualTo(agents);
    assertThat(taken.image().history().takeEvicted()).isZero();
    assertThat(log.read(0)).allMatch(entry -> entry.body().length <= 4 << 20);
    assertThat(log.read(0)).filteredOn(entry -> entry.body().length > 1 << 20).hasSize(4);
  }

  /** Returns a server whose calls to the log a test changes. */
  private LogJournals serverOf(ForwardingLog changed) {
    JournalLogs of =
        new JournalLogs() {
          @Override
          public JournalLog open(QueueId queue) {
            return changed;
          }

          @Override
          public void close() {}
        };
    return new LogJournals(of, "trace-spans", GROUP, Windows::newImage, timing, counters, CHUNK);
  }

  private RecordHeader header(byte[] message) {
    return new ChunkFormat("trace-spans", QUEUE, CHUNK).read(message).header();
  }

  @Test
  void aWindowWithPlacesDoesNotCountAfterAnotherClaim() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    other.take(QUEUE);

    assertThat(owner.append(window(0, 10), places(10))).isEqualTo(Outcome.FENCED);
  }

  @Test
  void anotherWindowIsRefusedWhileTheOutcomeOfOneIsUnknown() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    log.leaveUnconfirmed(true);
    assertThatThrownBy(() -> owner.append(window(0, 10))).isInstanceOf(IOException.class);

    assertThatThrownBy(() -> owner.append(window(0, 11)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("before it is known");
  }

  @Test
  void aWindowBetweenWhoseChunksOthersWriteIsGivenUp() throws Exception {
    QueueJournal owner =
        serverOf(
                new ForwardingLog(log) {
                  @Override
                  public long append(byte[] message) throws IOException {
                    long offset = LogJournalsTest.this.log.append(message);
                    LogJournalsTest.this.log.store(new byte[] {1});
                    return offset;
                  }
                })
            .take(QUEUE)
            .journal();

    SealedWindow ofManyChunks = Windows.window(QUEUE, 0, 10, new long[20]);
    assertThatThrownBy(() -> owner.append(ofManyChunks))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not whole in its journal after 16 attempts");
  }

  @Test
  void anOwnerThatMissedMessagesDropsItsQueue() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    log.store(new byte[] {1});
    log.store(new byte[] {2});
    log.deleteBefore(log.end());

    assertThat(owner.renew()).isEqualTo(Outcome.FENCED);
    assertThat(owner.snapshotDue()).isFalse();
    long end = log.end();
    owner.release();
    assertThat(log.end()).isEqualTo(end);
  }

  @Test
  void aSnapshotIsDueAfterManyBytes() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    assertThat(owner.snapshotDue()).isFalse();
    log.store(new byte[64 << 20]);
    owner.renew();

    assertThat(owner.snapshotDue()).isTrue();
  }

  @Test
  void anOwnerWhoseJournalWasReplacedWritesNoSnapshot() throws Exception {
    QueueJournal owner = one.take(QUEUE).journal();
    owner.append(window(0, 10));
    final long end = log.end();
    log.deleteFrom(1);
    store(RecordKind.WINDOW, 1, 0, 12, window(0, 12));
    assertThat(log.end()).isEqualTo(end);
    assertThat(owner.snapshot()).isEqualTo(Outcome.FENCED);

    QueueJournal next = other.take(QUEUE).journal();
    long claimed = log.end() - 1;
    RecordHeader claim = header(log.read(claimed).getFirst().body());
    log.deleteFrom(claimed);
    claim(claim.epoch() + 1, claimed);
    assertThat(next.snapshot()).isEqualTo(Outcome.FENCED);
  }

  @Test
  void aLogThatDoesNotShowItsMessagesCannotBeTaken() {
    LogJournals blind =
        serverOf(
            new ForwardingLog(log) {
              @Override
              public long end() {
                return 1;
              }
            });
    assertThatThrownBy(() -> blind.take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("does not show its message 0");
  }

  @Test
  void aClaimThatOthersAlwaysPrecedeIsGivenUp() {
    ChunkFormat format = new ChunkFormat("trace-spans", QUEUE, CHUNK);
    LogJournals late =
        serverOf(
            new ForwardingLog(log) {
              @Override
              public long append(byte[] message) throws IOException, InterruptedException {
                RecordHeader mine = header(message);
                RecordHeader rival =
                    new RecordHeader(mine.kind(), new UUID(7, 7), mine.epoch(), 0, -1, -1, 0);
                super.append(format.write(rival, LogRecord.NO_PAYLOAD).getFirst());
                return super.append(message);
              }
            });
    assertThatThrownBy(() -> late.take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("could not be claimed");
  }

  @Test
  void aClaimAfterWhichTheLogIsShorterIsNoTakeOver() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    LogJournals rewound =
        serverOf(
            new ForwardingLog(log) {
              @Override
              public long append(byte[] message) throws IOException, InterruptedException {
                if (header(message).kind() == RecordKind.CLAIM) {
                  LogJournalsTest.this.log.deleteFrom(0);
                }
                return super.append(message);
              }
            });
    assertThatThrownBy(() -> rewound.take(QUEUE)).isInstanceOf(IOException.class);
  }

  @Test
  void aTakeOverWhoseLogIsDeletedMeanwhileIsRepeated() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    LogJournals late =
        serverOf(
            new ForwardingLog(log) {
              @Override
              public long append(byte[] message) throws IOException, InterruptedException {
                if (header(message).kind() == RecordKind.CLAIM) {
                  LogJournalsTest.this.log.store(new byte[] {1});
                  LogJournalsTest.this.log.deleteBefore(end());
                }
                return super.append(message);
              }
            });
    assertThatThrownBy(() -> late.take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("deleted while it was read");
  }

  @Test
  void messagesBeforeTheOffsetThatIsReadAreIgnored() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    LogJournals repeating =
        serverOf(
            new ForwardingLog(log) {
              @Override
              public List<Entry> read(long from) throws IOException, InterruptedException {
                return super.read(Math.max(0, from - 1));
              }
            });

    QueueJournal owner = repeating.take(QUEUE).journal();
    log.store(new byte[] {1});
    assertThat(owner.append(window(10, 11))).isEqualTo(Outcome.KEPT);
  }

  @Test
  void aSnapshotAfterWhichAnotherServerClaimsTheQueueGetsNoMark() throws Exception {
    LogJournals overtaken =
        serverOf(
            new ForwardingLog(log) {
              private boolean snapshot;

              @Override
              public long append(byte[] message) throws IOException, InterruptedException {
                RecordKind kind = header(message).kind();
                if (snapshot && kind == RecordKind.CLAIM) {
                  other.take(QUEUE);
                }
                snapshot |= kind == RecordKind.SNAPSHOT;
                return super.append(message);
              }
            });
    QueueJournal owner = overtaken.take(QUEUE).journal();
    owner.append(window(0, 10), places(10));

    assertThat(owner.snapshot()).isEqualTo(Outcome.FENCED);
    assertThat(log.mark(GROUP)).isEqualTo(JournalLog.NONE);
    assertThat(one.take(QUEUE).image().to()).isEqualTo(10);
  }

  @Test
  void aQueueIsNotTakenIfItsJournalNoLongerReturnsWhatWasRead() throws Exception {
    one.take(QUEUE).journal().append(window(0, 10));
    final long end = log.end();
    LogJournals silent =
        serverOf(
            new ForwardingLog(log) {
              @Override
              public List<Entry> read(long from) throws IOException, InterruptedException {
                return from < end && end() > end ? List.of() : super.read(from);
              }
            });

    assertThatThrownBy(() -> silent.take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("lost its message");
  }
}
