package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.chain.QueueLog.Recovered;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.journal.log.UnverifiedLogException;
import org.traceetl.server.window.QueueId;

/**
 * Journals in logs that several processes share. {@link JournalChain} determines from a queue's log
 * who owns the queue and which windows count.
 */
public final class LogJournals implements Journal {
  private final JournalLogs logs;
  private final String topic;
  private final String group;
  private final RecordPayloads payloads;
  private final JournalTiming timing;
  private final JournalCounters counters;
  private final int maxChunkBytes;

  /** This process's last ownership of each queue; bounded by the number of queues. */
  private final Map<QueueId, LastOwnership> ownerships = new ConcurrentHashMap<>();

  /** An epoch in which this process owned a queue, and when it was first allowed to show it. */
  private record LastOwnership(long epoch, UUID writer, long showFromNanos) {}

  /**
   * @param logs closed with this
   * @param topic of the spans
   * @param group whose mark in a log identifies the newest snapshot
   * @param newImage creates the image of a queue without windows
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

  /**
   * @param maxChunkBytes maximum payload of a message
   */
  public LogJournals(
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
   * Returns a tail of a queue's log, whoever owns the queue.
   *
   * @param tailGroup whose mark is the tail's progress
   * @throws IOException if there is no log, or its existence cannot be determined now
   */
  public JournalTail tail(QueueId queue, String tailGroup)
      throws IOException, InterruptedException {
    return new JournalTail(queue, logs.open(queue), format(queue), payloads, counters, tailGroup);
  }

  /**
   * Returns a tail of a queue's log from a time on, whoever owns the queue. It sets no mark.
   *
   * @param sinceMillis milliseconds since 1970
   * @param snapshots receives the queue's state when the tail learns it, on the polling thread;
   *     before, rows of windows may belong to unknown series
   * @throws IOException if there is no log, or its existence cannot be determined now
   */
  public JournalTail tail(QueueId queue, long sinceMillis, Consumer<QueueImage> snapshots)
      throws IOException, InterruptedException {
    return new JournalTail(
        queue, logs.open(queue), format(queue), payloads, counters, sinceMillis, snapshots);
  }

  /**
   * Returns a tail of a queue's log that begins at a snapshot, whoever owns the queue.
   *
   * @param tailGroup whose mark is the tail's progress
   * @throws IOException if there is no log, or its existence cannot be determined now
   */
  public SnapshotTail replay(QueueId queue, String tailGroup)
      throws IOException, InterruptedException {
    return new SnapshotTail(
        queue, logs.open(queue), format(queue), payloads, counters, tailGroup, group);
  }

  QueueLog queueLog(QueueId queue) throws IOException, InterruptedException {
    return new QueueLog(queue, logs.open(queue), format(queue), payloads, timing, counters, group);
  }

  private ChunkFormat format(QueueId queue) {
    return new ChunkFormat(topic, queue, maxChunkBytes);
  }

  @Override
  public TakeOver takeOver(QueueId queue, Duration patience) {
    return new LogTakeOver(queue, patience, this);
  }

  /** Takes a queue over at once, and waits between the steps: for programs without other work. */
  public Taken take(QueueId queue) throws IOException, InterruptedException {
    return take(queue, Duration.ZERO, () -> true);
  }

  /**
   * Takes a queue over, and waits between the steps.
   *
   * @param wanted asked before each step
   * @return null if it is no longer wanted
   */
  Taken take(QueueId queue, Duration patience, BooleanSupplier wanted)
      throws IOException, InterruptedException {
    TakeOver takeOver = takeOver(queue, patience);
    while (wanted.getAsBoolean()) {
      Taken taken = takeOver.step();
      if (taken != null) {
        return taken;
      }
      long waitNanos = takeOver.dueInNanos();
      if (waitNanos > 0) {
        timing.pause(waitNanos);
      }
    }
    return null;
  }

  /**
   * Reads a queue's log like a take-over, but takes nothing.
   *
   * @return why and at which message a server stops; null if it does not stop
   * @throws IOException if the log cannot be read now
   */
  Stop stop(QueueId queue) throws IOException, InterruptedException {
    QueueLog queueLog = queueLog(queue);
    try {
      int recoveries = 1;
      while (QueueLog.mayBeIncomplete(queueLog.recoverOnce().reader().chain(), recoveries)) {
        timing.pause(QueueLog.RECOVERY_NANOS);
        recoveries++;
      }
      return null;
    } catch (LaterVersionException e) {
      return new Stop(e.offset(), e.getMessage());
    } catch (UnverifiedLogException e) {
      return new Stop(JournalLog.NONE, e.getMessage());
    }
  }

  /**
   * Why servers stop reading.
   *
   * @param offset of the message, or {@link JournalLog#NONE} for the whole log
   */
  record Stop(long offset, String why) {}

  /**
   * Makes servers skip the message that stops them.
   *
   * @param reason for later readers of the log, at most {@value StepOverRecord#MAX_REASON}
   *     characters
   * @return offset of the record of the step
   * @throws IOException if it is not confirmed: it may have been recorded
   */
  long stepOver(QueueId queue, Stop stop, String reason) throws IOException, InterruptedException {
    JournalLog messages = logs.open(queue);
    // If nothing can be verified, one message that can be is enough.
    byte[] message =
        stop.offset() == JournalLog.NONE
            ? JournalLog.LEFT_OUT
            : messages.read(stop.offset()).getFirst().body();
    StepOverRecord step = StepOverRecord.over(Math.max(0, stop.offset()), message, reason);
    UUID writer = new UUID(timing.random().nextLong(), timing.random().nextLong());
    RecordHeader header = step.header(writer, timing.nowMillis());
    return messages.append(format(queue).write(header, step.payload()).getFirst());
  }

  JournalTiming timing() {
    return timing;
  }

  JournalCounters counters() {
    return counters;
  }

  boolean isAnothers(QueueId queue, JournalChain chain) {
    return chain.sure() && chain.epoch() > 0 && !chain.released() && !isHeld(queue, chain);
  }

  /** Returns whether this process is the owner, or was the last one. */
  private boolean isHeld(QueueId queue, JournalChain chain) {
    LastOwnership held = ownerships.get(queue);
    return held != null && chain.isOwner(held.epoch(), held.writer());
  }

  /** Reports a confirmed claim. */
  Taken taken(QueueLog queueLog, UUID writer, Recovered recovered, long beganNanos) {
    QueueId queue = queueLog.queue();
    long epoch = recovered.reader().chain().epoch();
    long showFromNanos = showFromNanos(queue, recovered);
    ownerships.put(queue, new LastOwnership(epoch, writer, showFromNanos));
    recovered.state().image().number(recovered.reader().chain().number());
    LogQueueJournal journal =
        new LogQueueJournal(queueLog, writer, recovered, beganNanos, showFromNanos);
    return new Taken(
        journal, recovered.state().image(), recovered.state().lastMessages(), showFromNanos);
  }

  /** Returns when the queue may first be shown. Call it after the claim is confirmed. */
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

  /** Returns the later time; nanosecond clocks may overflow. */
  private static long later(long oneNanos, long otherNanos) {
    return oneNanos - otherNanos > 0 ? oneNanos : otherNanos;
  }

  @Override
  public void close() {
    logs.close();
  }
}
