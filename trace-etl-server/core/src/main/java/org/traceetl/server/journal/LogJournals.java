package org.traceetl.server.journal;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.QueueLog.Placed;
import org.traceetl.server.journal.QueueLog.Recovered;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/**
 * Journals in logs that several processes share. Who owns a queue, and which windows count, is what
 * {@link JournalChain} makes of its log.
 */
public final class LogJournals implements Journal {
  private static final Logger log = LoggerFactory.getLogger(LogJournals.class);
  private static final int CLAIM_ATTEMPTS = 8;
  private static final long MAX_PAUSE_NANOS = 200_000_000;
  private static final long RELEASE_POLL_NANOS = 50_000_000;

  private final JournalLogs logs;
  private final String topic;
  private final String group;
  private final RecordPayloads payloads;
  private final JournalTiming timing;
  private final JournalCounters counters;
  private final int maxChunkBytes;

  /** What this process has last had of each queue: bounded by the queues that there are. */
  private final Map<QueueId, LastOwnership> ownerships = new ConcurrentHashMap<>();

  /** An epoch in which this process owned a queue, and from when on it might show it. */
  private record LastOwnership(long epoch, UUID writer, long showFromNanos) {}

  /**
   * @param logs closed with this
   * @param topic of the spans
   * @param group whose mark in a log names the newest snapshot
   * @param newImage makes the image of a queue without windows
   */
  public LogJournals(
      JournalLogs logs,
      String topic,
      String group,
      Supplier<QueueImage> newImage,
      JournalTiming timing,
      JournalCounters counters) {
    this(logs, topic, group, newImage, timing, counters, ChunkFormat.MAX_PAYLOAD_BYTES);
  }

  LogJournals(
      JournalLogs logs,
      String topic,
      String group,
      Supplier<QueueImage> newImage,
      JournalTiming timing,
      JournalCounters counters,
      int maxChunkBytes) {
    this.logs = logs;
    this.topic = topic;
    this.group = group;
    payloads = new RecordPayloads(newImage);
    this.timing = timing;
    this.counters = counters;
    this.maxChunkBytes = maxChunkBytes;
  }

  /**
   * Follows a queue's log, whoever owns the queue.
   *
   * @param tailGroup whose mark says how far it has come
   * @throws IOException if there is no log, or that cannot be found out now
   */
  public JournalTail tail(QueueId queue, String tailGroup)
      throws IOException, InterruptedException {
    return new JournalTail(queue, logs.open(queue), format(queue), payloads, counters, tailGroup);
  }

  /**
   * Follows a queue's log from a time on, whoever owns the queue, and marks nothing.
   *
   * @param sinceMillis milliseconds since 1970
   * @param snapshots told of the queue's state where the tail comes to know it, on the thread that
   *     polls; before, a window's rows may belong to series that nobody has told of
   * @throws IOException if there is no log, or that cannot be found out now
   */
  public JournalTail tail(QueueId queue, long sinceMillis, Consumer<QueueImage> snapshots)
      throws IOException, InterruptedException {
    return new JournalTail(
        queue, logs.open(queue), format(queue), payloads, counters, sinceMillis, snapshots);
  }

  private QueueLog queueLog(QueueId queue) throws IOException, InterruptedException {
    return new QueueLog(queue, logs.open(queue), format(queue), payloads, timing, counters, group);
  }

  private ChunkFormat format(QueueId queue) {
    return new ChunkFormat(topic, queue, maxChunkBytes);
  }

  @Override
  public Taken take(QueueId queue, Duration patience, BooleanSupplier wanted)
      throws IOException, InterruptedException {
    QueueLog queueLog = queueLog(queue);
    Recovered recovered = queueLog.recover();
    JournalReader reader = recovered.reader();
    if (!reader.chain().sure()) {
      counters.historyLost();
      log.error(
          "The journal of queue {} has neither its beginning nor a snapshot: earlier counts are lost."
              + " Its counters begin at 0, and its spans are read from offset {}. The broker must"
              + " keep messages longer than {} and longer than all servers may be away.",
          queue,
          recovered.state().image().to(),
          timing.snapshotInterval());
    }
    awaitRelease(queueLog, recovered, patience, wanted);
    if (!wanted.getAsBoolean()) {
      return null;
    }
    // Another one for each take: a claim or a release of an earlier one may yet come to the log,
    // and must not be taken for this one's.
    UUID writer = new UUID(timing.random().nextLong(), timing.random().nextLong());
    confirmRead(queueLog, writer, recovered);
    for (int attempt = 1; attempt <= CLAIM_ATTEMPTS; attempt++) {
      long epoch = reader.chain().nextEpoch(timing.nowMillis());
      long beganNanos = timing.nowNanos();
      Placed placed =
          queueLog.append(
              queueLog.draft(
                  header(RecordKind.CLAIM, writer, epoch, reader.chain()), LogRecord.NO_PAYLOAD),
              reader,
              recovered.state());
      if (placed == Placed.REWOUND) {
        break;
      }
      if (reader.missed()) {
        throw new IOException(
            "The journal of queue "
                + queue
                + " was deleted while it was read; the take-over must be repeated");
      }
      if (reader.chain().isOwner(epoch, writer)) {
        return taken(queueLog, writer, recovered, beganNanos);
      }
      timing.pause(timing.random().nextLong(MAX_PAUSE_NANOS));
    }
    throw new IOException(
        "Queue "
            + queue
            + " could not be claimed because other servers claimed it at the same time");
  }

  /**
   * Reads a queue's log as a server does that takes the queue, and takes nothing.
   *
   * @return why a server stops, and at which message; null if none does
   * @throws IOException if the log cannot be read now
   */
  Stop stop(QueueId queue) throws IOException, InterruptedException {
    QueueLog queueLog = queueLog(queue);
    try {
      queueLog.recover();
      return null;
    } catch (LaterVersionException e) {
      return new Stop(e.offset(), e.getMessage());
    } catch (UnverifiedLogException e) {
      return new Stop(JournalLog.NONE, e.getMessage());
    }
  }

  /**
   * Why servers do not read on.
   *
   * @param offset of the message, or {@link JournalLog#NONE} if it is all of them
   */
  record Stop(long offset, String why) {}

  /**
   * Has servers pass over the message that stops them.
   *
   * @param reason for whoever looks at the log later, at most {@value StepOverRecord#MAX_REASON}
   *     characters
   * @return offset of the record that says so
   * @throws IOException if it is not confirmed: it may have been recorded
   */
  long stepOver(QueueId queue, Stop stop, String reason) throws IOException, InterruptedException {
    JournalLog messages = logs.open(queue);
    // Where nothing can be verified, one message that can be is what lacks.
    byte[] message =
        stop.offset() == JournalLog.NONE
            ? JournalLog.LEFT_OUT
            : messages.read(stop.offset()).getFirst().body();
    StepOverRecord step = StepOverRecord.over(Math.max(0, stop.offset()), message, reason);
    UUID writer = new UUID(timing.random().nextLong(), timing.random().nextLong());
    RecordHeader header = step.header(writer, timing.nowMillis());
    return messages.append(format(queue).write(header, step.payload()).getFirst());
  }

  /** Reads on until the queue is released or not wanted any more, for so long. */
  private void awaitRelease(
      QueueLog queueLog, Recovered recovered, Duration patience, BooleanSupplier wanted)
      throws IOException, InterruptedException {
    long untilNanos = timing.nowNanos() + patience.toNanos();
    while (isAnothers(queueLog.queue(), recovered.reader().chain())
        && timing.nowNanos() - untilNanos < 0
        && wanted.getAsBoolean()) {
      timing.pause(RELEASE_POLL_NANOS);
      queueLog.readUntil(recovered.reader(), queueLog.end(), recovered.state());
    }
  }

  private boolean isAnothers(QueueId queue, JournalChain chain) {
    return chain.sure() && chain.epoch() > 0 && !chain.released() && !isHeld(queue, chain);
  }

  /** Whether the owner is this process, or was it last. */
  private boolean isHeld(QueueId queue, JournalChain chain) {
    LastOwnership held = ownerships.get(queue);
    return held != null && chain.isOwner(held.epoch(), held.writer());
  }

  /**
   * Has the broker confirm what was read, and looks whether the log still has it: its master may
   * have lost it meanwhile. A claim that follows a lost one skips an epoch, and then no reader can
   * tell whether the history is whole.
   */
  private void confirmRead(QueueLog queueLog, UUID writer, Recovered recovered)
      throws IOException, InterruptedException {
    JournalReader reader = recovered.reader();
    LastMessages read = reader.lastRead();
    if (!read.isEmpty()) {
      RecordHeader barrier = header(RecordKind.RELEASE, writer, 0, reader.chain());
      queueLog.append(queueLog.draft(barrier, LogRecord.NO_PAYLOAD), reader, recovered.state());
      queueLog.requireUnchanged(read);
    }
  }

  private RecordHeader header(RecordKind kind, UUID writer, long epoch, JournalChain chain) {
    return new RecordHeader(
        kind, writer, epoch, chain.number(), JournalLog.NONE, chain.to(), timing.nowMillis());
  }

  private Taken taken(QueueLog queueLog, UUID writer, Recovered recovered, long beganNanos) {
    counters.taken();
    QueueId queue = queueLog.queue();
    long epoch = recovered.reader().chain().epoch();
    long showFromNanos = showFromNanos(queue, recovered);
    ownerships.put(queue, new LastOwnership(epoch, writer, showFromNanos));
    LogQueueJournal journal =
        new LogQueueJournal(queueLog, writer, recovered, beganNanos, showFromNanos);
    return new Taken(
        journal, recovered.state().image(), recovered.state().lastMessages(), showFromNanos);
  }

  /** Called once the claim is known to be in the log, so that its time is not before it. */
  private long showFromNanos(QueueId queue, Recovered recovered) {
    JournalChain before = recovered.state().predecessor();
    long nowNanos = timing.nowNanos();
    if (before.sure() && (before.released() || before.epoch() == 0)) {
      return nowNanos;
    }
    if (isHeld(queue, before)) {
      return later(nowNanos, ownerships.get(queue).showFromNanos());
    }
    return nowNanos + timing.waitNanos();
  }

  /** Nanosecond clocks may overflow. */
  private static long later(long oneNanos, long otherNanos) {
    return oneNanos - otherNanos > 0 ? oneNanos : otherNanos;
  }

  @Override
  public void close() {
    logs.close();
  }
}
