package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.util.BitSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.InconsistentWindowException;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.chain.JournalReader.Visitor;
import org.traceetl.server.journal.chain.QueueLog.Draft;
import org.traceetl.server.journal.chain.QueueLog.Placed;
import org.traceetl.server.journal.chain.QueueLog.Recovered;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordKind;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.journal.format.WindowInvariants;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.SealedWindow;

/**
 * A queue's journal in a log. It has the chain as of the last confirmed message. If an append
 * returns the next offset, the chain is unchanged; otherwise the messages in between have to be
 * read.
 *
 * <p>It never reads beyond its own confirmed appends, because unconfirmed messages may be lost
 * again. To learn whether a window of unknown outcome counts, it appends a renewal: everything
 * before a confirmed record is confirmed.
 */
public final class LogQueueJournal implements QueueJournal {
  private static final Logger log = LoggerFactory.getLogger(LogQueueJournal.class);
  private static final int APPEND_ATTEMPTS = 16;
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** A snapshot is due after this many bytes since the last one. */
  private static final long SNAPSHOT_BYTES = 64L << 20;

  /**
   * A state that the journal has lost does not return, unless the broker did not show its snapshot.
   * So the journal is replayed for the next snapshot only after this pause.
   */
  private static final long LOST_STATE_NANOS = TimeUnit.HOURS.toNanos(1);

  private final QueueLog queueLog;
  private final JournalTiming timing;
  private final UUID writer;
  private final long epoch;
  private final JournalReader reader;
  private final long showFromNanos;
  private final long snapshotIntervalMillis;

  private long shownUntilNanos;
  private boolean fenced;
  private LastMessages lastMessages;
  private long snapshotAtNanos;

  /** Whether the last replay for a snapshot lacked records, and when the next one may begin. */
  private boolean stateLost;

  private long replayNanos;

  /** Numbers of the series that windows have defined: the next window has rows of these only. */
  private final BitSet series = new BitSet();

  /** A window whose append has no known outcome; null if there is none. */
  private Unsettled unsettled;

  private record Unsettled(SealedWindow window, Draft draft) {}

  /**
   * @param recovered the state that was taken over; its reader is after the claim
   * @param beganNanos time before the claim was sent
   */
  LogQueueJournal(
      QueueLog queueLog, UUID writer, Recovered recovered, long beganNanos, long showFromNanos) {
    this.queueLog = queueLog;
    this.timing = queueLog.timing();
    this.writer = writer;
    this.reader = recovered.reader();
    this.epoch = reader.chain().epoch();
    lastMessages = recovered.state().lastMessages();
    QueueImage image = recovered.state().image();
    for (int number = 0; number < image.slots(); number++) {
      series.set(number, image.definition(number) != null);
    }
    this.showFromNanos = showFromNanos;
    shownUntilNanos = beganNanos + timing.lease().toNanos();
    snapshotIntervalMillis = spread(timing.snapshotInterval().toMillis());
    snapshotAtNanos = timing.nowNanos() + firstSnapshotInMillis() * NANOS_PER_MILLI;
  }

  /** Returns half to all of the interval, by queue: this spreads snapshots over time. */
  private long spread(long intervalMillis) {
    double share = Integer.toUnsignedLong(queueLog.queue().hashCode() * 0x9E37_79B9) * 0x1p-32;
    return (long) (intervalMillis * (0.5 + share / 2));
  }

  /** Reads the wall clock only once, so that a later step of it cannot delay snapshots. */
  private long firstSnapshotInMillis() {
    if (reader.snapshotMillis() != JournalLog.NONE) {
      long ageMillis = timing.nowMillis() - reader.snapshotMillis();
      // The writer's clock may be ahead.
      return Math.clamp(snapshotIntervalMillis - ageMillis, 0, snapshotIntervalMillis);
    }
    // A log without windows needs no snapshot; readers of a log without its beginning need one.
    boolean isNew = reader.chain().sure() && reader.chain().number() == 0;
    return isNew ? snapshotIntervalMillis : 0;
  }

  @Override
  public Outcome append(SealedWindow window, LastMessages read)
      throws IOException, InterruptedException {
    return append(window, read, true);
  }

  @Override
  public Outcome appendInconsistent(SealedWindow window, LastMessages read)
      throws IOException, InterruptedException {
    return append(window, read, false);
  }

  private Outcome append(SealedWindow window, LastMessages read, boolean consistent)
      throws IOException, InterruptedException {
    if (isFenced()) {
      return Outcome.FENCED;
    }
    try {
      return appendOnce(window, read, consistent);
    } catch (LaterVersionException e) {
      return stopped(e);
    }
  }

  private Outcome appendOnce(SealedWindow window, LastMessages read, boolean consistent)
      throws IOException, InterruptedException {
    boolean again = unsettled != null;
    if (again && !unsettled.window().equals(window)) {
      throw new IllegalArgumentException(
          "window from " + window.from() + " before it is known whether the last one counts");
    }
    if (!again) {
      unsettled = new Unsettled(window, draft(window, read, consistent));
    }
    if (!read.isEmpty()) {
      lastMessages = read;
    }
    // The places precede the window, so that no window counts without them.
    if ((again || !read.isEmpty()) && appendRenewal() == Outcome.FENCED) {
      return Outcome.FENCED;
    }
    return appendUnsettled();
  }

  /**
   * @param consistent whether an inconsistent window is refused
   * @throws InconsistentWindowException if the window contradicts itself or the journal
   * @throws IllegalArgumentException if it is not the next one, or too large
   */
  private Draft draft(SealedWindow window, LastMessages read, boolean consistent) {
    JournalChain chain = reader.chain();
    if (chain.to() != JournalLog.NONE && window.from() != chain.to()) {
      throw new IllegalArgumentException(requirement(window, "must be from " + chain.to()));
    }
    if (consistent) {
      requireContinuation(window, read);
    }
    Draft draft =
        queueLog.draft(
            header(RecordKind.WINDOW, chain.number() + 1, window.from(), window.to()),
            consistent
                ? queueLog.payloads().bytes(window)
                : queueLog.payloads().bytesOfInconsistent(window));
    window.created().forEach(definition -> series.set(definition.series()));
    for (int evicted : window.evicted()) {
      series.clear(evicted);
    }
    return draft;
  }

  private void requireContinuation(SealedWindow window, LastMessages read) {
    if (!read.isEmpty() && read.lastEnd() > window.to()) {
      throw new InconsistentWindowException(
          requirement(window, "must not end before the known place " + read.lastEnd()));
    }
    int undefined = WindowInvariants.undefined(window, series::get);
    if (undefined >= 0) {
      throw new InconsistentWindowException(
          requirement(window, "must define series " + undefined + ", which has a row"));
    }
  }

  private String requirement(SealedWindow window, String requirement) {
    return "window [%d, %d) of queue %s: %s"
        .formatted(window.from(), window.to(), queueLog.queue(), requirement);
  }

  private RecordHeader header(RecordKind kind, long number, long from, long to) {
    return new RecordHeader(kind, writer, epoch, number, from, to, timing.nowMillis());
  }

  private Outcome appendUnsettled() throws IOException, InterruptedException {
    for (int attempt = 1; !settled() && attempt <= APPEND_ATTEMPTS; attempt++) {
      if (append(unsettled.draft()) == Outcome.FENCED) {
        return Outcome.FENCED;
      }
    }
    if (settled()) {
      unsettled = null;
      return Outcome.KEPT;
    }
    throw new IOException(
        "A window of queue "
            + queueLog.queue()
            + " is not whole in its journal after "
            + APPEND_ATTEMPTS
            + " attempts, because another program keeps writing to it");
  }

  private boolean settled() {
    return reader.chain().number() >= unsettled.draft().header().number();
  }

  /**
   * Appends the claim again, with the known places. When it is confirmed, everything before it is
   * confirmed.
   */
  private Outcome appendRenewal() throws IOException, InterruptedException {
    JournalChain chain = reader.chain();
    return append(
        queueLog.draft(
            header(
                RecordKind.CLAIM,
                chain.number(),
                lastMessages.isEmpty() ? JournalLog.NONE : lastMessages.lastEnd(),
                chain.to()),
            queueLog.payloads().bytes(lastMessages)));
  }

  /** Appends a record; returns whether the caller still owns the queue afterwards. */
  private Outcome append(Draft draft) throws IOException, InterruptedException {
    long beganNanos = timing.nowNanos();
    return outcome(queueLog.append(draft, reader, Visitor.NONE), beganNanos);
  }

  private Outcome outcome(Placed placed, long beganNanos) {
    if (placed == Placed.REWOUND) {
      return fenced("its journal has lost messages that it had acknowledged");
    }
    if (!isOwner()) {
      return succeeded();
    }
    verified(beganNanos);
    return Outcome.KEPT;
  }

  /** Returns whether the queue is lost, perhaps to a claim that a failed call has read. */
  private boolean isFenced() {
    if (!fenced && !isOwner()) {
      succeeded();
    }
    return fenced;
  }

  private boolean isOwner() {
    return reader.chain().isOwner(epoch, writer) && !reader.missed();
  }

  private void verified(long beganNanos) {
    long untilNanos = beganNanos + timing.lease().toNanos();
    if (untilNanos - shownUntilNanos > 0) {
      shownUntilNanos = untilNanos;
    }
  }

  /** Ends the ownership at a hand-over. */
  private Outcome succeeded() {
    log.info(
        "Another server has claimed queue {}; this server owned it in epoch {}",
        queueLog.queue(),
        epoch);
    return fenced();
  }

  /** Ends the ownership because of an unexpected state. */
  private Outcome fenced(String why) {
    log.error("Queue {} is dropped in epoch {}: {}", queueLog.queue(), epoch, why);
    return fenced();
  }

  /** Ends the ownership, because a retry fails too; the next owner reads the rest. */
  private Outcome stopped(LaterVersionException why) {
    return fenced(why.getMessage());
  }

  private Outcome fenced() {
    fenced = true;
    queueLog.counters().fenced();
    return Outcome.FENCED;
  }

  @Override
  public Outcome renew() throws IOException, InterruptedException {
    if (isFenced()) {
      return Outcome.FENCED;
    }
    try {
      return appendRenewal();
    } catch (LaterVersionException e) {
      return stopped(e);
    }
  }

  @Override
  public long shownUntilNanos() {
    return shownUntilNanos;
  }

  @Override
  public boolean snapshotDue() {
    return !fenced
        && (timing.nowNanos() - snapshotAtNanos >= 0
            || reader.bytesSinceSnapshot() >= SNAPSHOT_BYTES);
  }

  @Override
  public Outcome snapshot() throws IOException, InterruptedException {
    if (isFenced()) {
      return Outcome.FENCED;
    }
    if (stateLost && timing.nowNanos() - replayNanos < 0) {
      throw lostState();
    }
    // Rejected records were counted when they were first read.
    Recovered recovered = queueLog.recover(reader.next(), new JournalCounters());
    JournalChain chain = reader.chain();
    if (!agree(chain, recovered.reader().chain())) {
      return fenced(
          "its journal says "
              + recovered.reader().chain()
              + ", this server "
              + chain
              + "; what differs is read again");
    }
    if (chain.sure() && !recovered.reader().chain().sure()) {
      // A snapshot would say that the counts before are complete, and no reader would miss them.
      stateLost = true;
      replayNanos = timing.nowNanos() + LOST_STATE_NANOS;
      throw lostState();
    }
    stateLost = false;
    long at = reader.next();
    RecordHeader header = header(RecordKind.SNAPSHOT, chain.number(), at, chain.to());
    QueueImage image = recovered.state().image();
    if (!RecordPayloads.isStateAt(header, image)) {
      return fenced("its snapshot would end at " + image.to() + " in a record of " + header);
    }
    Draft draft = queueLog.draft(header, queueLog.payloads().bytes(image));
    long beganNanos = timing.nowNanos();
    Placed placed = queueLog.append(draft, reader, Visitor.NONE);
    if (outcome(placed, beganNanos) == Outcome.FENCED) {
      return Outcome.FENCED;
    }
    if (placed == Placed.NEXT) {
      // Readers that begin at the mark do not see earlier records.
      if (!lastMessages.isEmpty() && appendRenewal() == Outcome.FENCED) {
        return Outcome.FENCED;
      }
      queueLog.mark(at);
      queueLog.counters().snapshotWritten();
      snapshotAtNanos = timing.nowNanos() + snapshotIntervalMillis * NANOS_PER_MILLI;
    }
    return Outcome.KEPT;
  }

  private IOException lostState() {
    return new IOException(
        "The journal of queue "
            + queueLog.queue()
            + " no longer has its beginning or a snapshot, so its state cannot be read");
  }

  private static boolean agree(JournalChain one, JournalChain other) {
    return one.epoch() == other.epoch()
        && one.number() == other.number()
        && one.to() == other.to()
        && one.writer().equals(other.writer());
  }

  @Override
  public void release() throws IOException, InterruptedException {
    // An owner that still waits for its predecessor does not know whether a page shows the queue,
    // so its successor waits as well.
    if (fenced || timing.nowNanos() - showFromNanos < 0) {
      return;
    }
    JournalChain chain = reader.chain();
    queueLog.append(
        queueLog.draft(
            header(RecordKind.RELEASE, chain.number(), JournalLog.NONE, chain.to()),
            LogRecord.NO_PAYLOAD),
        reader,
        Visitor.NONE);
    fenced = true;
  }

  /** Returns the owner and the end of the lease, for log lines. */
  @Override
  public String toString() {
    return queueLog.queue()
        + " in epoch "
        + epoch
        + " of "
        + writer
        + ", "
        + reader.chain()
        + ", shown until "
        + shownUntilNanos;
  }
}
