package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.Journal.Taken;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.chain.QueueLog.Placed;
import org.traceetl.server.journal.chain.QueueLog.Recovered;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordKind;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/** Takes a queue over from its log: recovers its state, waits for its release, and claims it. */
public final class LogTakeOver implements Journal.TakeOver {
  private static final Logger log = LoggerFactory.getLogger(LogTakeOver.class);
  private static final int CLAIM_ATTEMPTS = 8;
  private static final long MAX_PAUSE_NANOS = 200_000_000;
  private static final long RELEASE_POLL_NANOS = 50_000_000;

  private final QueueId queue;
  private final Duration patience;
  private final LogJournals journals;
  private final JournalTiming timing;
  private QueueLog queueLog;
  private int recoveries;
  private Recovered recovered;

  /** Until when another process may release the queue. */
  private long patientUntilNanos;

  private boolean isRead;

  /** Null before the first claim. */
  private UUID writer;

  private int claims;
  private long dueNanos;

  LogTakeOver(QueueId queue, Duration patience, LogJournals journals) {
    this.queue = queue;
    this.patience = patience;
    this.journals = journals;
    timing = journals.timing();
    dueNanos = timing.nowNanos();
  }

  @Override
  public long dueInNanos() {
    return dueNanos - timing.nowNanos();
  }

  @Override
  public Taken step() throws IOException, InterruptedException {
    if (recovered == null) {
      recover();
      return null;
    }
    if (!isRead) {
      awaitRelease();
      return null;
    }
    return claim();
  }

  private void pause(long nanos) {
    dueNanos = timing.nowNanos() + nanos;
  }

  private void recover() throws IOException, InterruptedException {
    if (queueLog == null) {
      queueLog = journals.queueLog(queue);
    }
    Recovered read = queueLog.recoverOnce();
    JournalChain chain = read.reader().chain();
    recoveries++;
    if (QueueLog.mayBeIncomplete(chain, recoveries)) {
      pause(QueueLog.RECOVERY_NANOS);
      return;
    }
    if (!chain.sure()) {
      journals.counters().historyLost();
      log.error(
          "The journal of queue {} has neither its beginning nor a snapshot: earlier counts are lost."
              + " Its counters begin at 0, and its spans are read from offset {}. The broker must"
              + " keep messages longer than {} and longer than all servers may be away.",
          queue,
          read.state().image().to(),
          timing.snapshotInterval());
    }
    recovered = read;
    patientUntilNanos = timing.nowNanos() + patience.toNanos();
    awaitReleaseUnlessLate();
  }

  private void awaitRelease() throws IOException, InterruptedException {
    queueLog.readUntil(recovered.reader(), queueLog.end(), recovered.state());
    awaitReleaseUnlessLate();
  }

  private void awaitReleaseUnlessLate() {
    isRead =
        !journals.isAnothers(queue, recovered.reader().chain())
            || timing.nowNanos() - patientUntilNanos >= 0;
    if (!isRead) {
      pause(RELEASE_POLL_NANOS);
    }
  }

  /** Claims the queue; returns null if another claim was first. */
  private Taken claim() throws IOException, InterruptedException {
    JournalReader reader = recovered.reader();
    if (writer == null) {
      // Each take-over has a new writer ID: a late claim or release of an earlier one must not be
      // mistaken for this one's.
      writer = new UUID(timing.random().nextLong(), timing.random().nextLong());
      confirmRead(reader);
    }
    claims++;
    long epoch = reader.chain().nextEpoch(timing.nowMillis());
    long beganNanos = timing.nowNanos();
    Placed placed = append(RecordKind.CLAIM, epoch);
    if (placed != Placed.REWOUND) {
      if (reader.missed()) {
        throw new IOException(
            "The journal of queue "
                + queue
                + " was deleted while it was read; the take-over must be repeated");
      }
      if (reader.chain().isOwner(epoch, writer)) {
        return journals.taken(queueLog, writer, recovered, beganNanos);
      }
      if (claims < CLAIM_ATTEMPTS) {
        pause(timing.random().nextLong(MAX_PAUSE_NANOS));
        return null;
      }
    }
    throw new IOException(
        "Queue "
            + queue
            + " could not be claimed because other servers claimed it at the same time");
  }

  /**
   * Makes the broker confirm what was read, and checks that the log still has it, as its master may
   * have lost it. A claim after a lost one skips an epoch; then no reader knows whether the history
   * is complete.
   */
  private void confirmRead(JournalReader reader) throws IOException, InterruptedException {
    LastMessages read = reader.lastRead();
    if (!read.isEmpty()) {
      append(RecordKind.RELEASE, 0);
      queueLog.requireUnchanged(read);
    }
  }

  private Placed append(RecordKind kind, long epoch) throws IOException, InterruptedException {
    JournalChain chain = recovered.reader().chain();
    RecordHeader header =
        new RecordHeader(
            kind, writer, epoch, chain.number(), JournalLog.NONE, chain.to(), timing.nowMillis());
    return queueLog.append(
        queueLog.draft(header, LogRecord.NO_PAYLOAD), recovered.reader(), recovered.state());
  }
}
