package org.traceetl.server.decisions;

import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.proto.Demand;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.MalformedDecisionsException;
import org.traceetl.proto.RecordFormat;
import org.traceetl.proto.RoutingRecord;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/**
 * Publishes the current record of one kind in the topic that agents and all servers read. It reads
 * records, adopts them by {@link RoutingRecord#holdsOver}, and replaces the current one. For one
 * thread, except {@link #refused}.
 */
public final class PublishedRecord<R extends RoutingRecord> {
  private static final Logger LOG = LoggerFactory.getLogger(PublishedRecord.class);

  /** The broker deletes old messages: a record is repeated before that. */
  private static final long REPEAT_NANOS = TimeUnit.HOURS.toNanos(1);

  /** Number of the newest records that this class and agents read. */
  private static final int NEWEST = 32;

  /**
   * A record is repeated after this many others, so that one kind cannot displace another from the
   * newest records.
   */
  private static final int BURIED = NEWEST / 2;

  private static final List<RecordFormat<?, ?>> KINDS =
      List.of(
          HotspotDecisions.FORMAT,
          LearntNames.FORMAT,
          Demand.FORMAT,
          EdgeQueues.FORMAT,
          RulesRecord.FORMAT);

  private final String topic;
  private final RecordFormat<R, ?> format;
  private final LongFunction<R> nothing;
  private final DecisionLog decisions;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final long startMillis;
  private final long startNanos;
  private final LogThrottle throttle;
  private final Consumer<R> listener;
  private final LongAdder refused = new LongAdder();

  /** Null if the topic is not known to exist. */
  private QueueId place;

  /** The log at that place. */
  private JournalLog log;

  private long readTo;

  /** End of the log at the last read. */
  private long end;

  private R current;

  /** Whether the current record is in that log. */
  private boolean written;

  /** When it was written or found there. */
  private long writtenNanos;

  /** Its offset there. */
  private long writtenAt;

  /**
   * @param nothing creates an empty record with the given epoch
   * @param listener receives each new current record
   */
  public PublishedRecord(
      String topic,
      RecordFormat<R, ?> format,
      LongFunction<R> nothing,
      DecisionLog decisions,
      InstantSource clock,
      LongSupplier nanoTime,
      LogThrottle throttle,
      Consumer<R> listener) {
    this.topic = topic;
    this.format = format;
    this.nothing = nothing;
    this.decisions = decisions;
    this.clock = clock;
    this.nanoTime = nanoTime;
    startMillis = clock.millis();
    startNanos = nanoTime.getAsLong();
    this.throttle = throttle;
    this.listener = listener;
    current = nothing.apply(0);
  }

  /** Returns the current record. */
  public R current() {
    return current;
  }

  /** Returns the number of records in the topic that could not be read. Any thread. */
  public long refused() {
    return refused.sum();
  }

  /**
   * Determines where records are now; at a new place the current one is written again.
   *
   * @return whether there is a place: the topic exists
   */
  public boolean find() throws IOException, InterruptedException {
    QueueId now = decisions.place();
    if (!Objects.equals(now, place)) {
      log = now == null ? null : decisions.open(now);
      readTo = 0;
      written = false;
      place = now;
    }
    return place != null;
  }

  /**
   * Reads the newest records of the log, and adopts one if it takes precedence.
   *
   * @return whether all of them could be read
   */
  public boolean read() throws IOException, InterruptedException {
    end = log.end();
    if (end < readTo) {
      // The topic was recreated: the current record is to be written to it.
      readTo = 0;
      written = false;
    }
    long from = Math.max(readTo, end - NEWEST);
    boolean given = true;
    while (given && from < end) {
      List<JournalLog.Entry> entries = log.read(from);
      if (entries.isEmpty()) {
        // The broker has deleted all of them, or does not return them yet.
        given = log.begin() >= end;
        from = given ? end : from;
      }
      for (JournalLog.Entry entry : entries) {
        take(entry);
        from = entry.offset() + 1;
      }
    }
    readTo = Math.max(readTo, from);
    return given;
  }

  private void take(JournalLog.Entry entry) {
    if (entry.body() == JournalLog.LEFT_OUT) {
      refused.increment();
      if (throttle.permits()) {
        LOG.warn("A record of topic {} is left out: it has no signature of the servers", topic);
      }
      return;
    }
    if (KINDS.stream().anyMatch(kind -> kind != format && kind.begins(entry.body()))) {
      return;
    }
    try {
      // After a step back of the wall clock, a record must not seem to be from the future.
      R read = format.decode(entry.body(), Math.max(clock.millis(), elapsedMillis()));
      if (read.holdsOver(current)) {
        holds(read, entry.offset());
      } else if (read.equals(current)) {
        seen(entry.offset());
      }
    } catch (MalformedDecisionsException e) {
      refused.increment();
      if (throttle.permits()) {
        LOG.warn("A record of topic {} is left out: {}", topic, e.getMessage());
      }
    }
  }

  private void holds(R now, long offset) {
    current = now;
    seen(offset);
    listener.accept(now);
  }

  private void seen(long offset) {
    written = true;
    writtenNanos = nanoTime.getAsLong();
    writtenAt = offset;
  }

  /**
   * Writes the current record again if agents could not find it any more, because the broker
   * deleted it or newer records follow. If there is none, it writes an empty record, because agents
   * may have a record of an earlier topic.
   *
   * @param readAll result of {@link #read}
   */
  public void repeat(boolean readAll) throws IOException, InterruptedException {
    boolean due =
        written
            ? nanoTime.getAsLong() - writtenNanos >= REPEAT_NANOS || end - writtenAt > BURIED
            : readAll;
    if (due) {
      R now = current.epoch() > 0 ? current : nothing.apply(nextEpoch());
      seen(log.append(now.encode()));
      current = now;
    }
  }

  /**
   * Returns the epoch of a new record: higher than all before, even if the topic was recreated. It
   * ignores a wall clock that was set forward: readers would refuse this record and all later ones.
   */
  public long nextEpoch() {
    return Math.max(current.epoch() + 1, Math.min(clock.millis(), elapsedMillis()));
  }

  /** Returns the Unix time, assuming no change of the wall clock since the start. */
  private long elapsedMillis() {
    return startMillis + TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - startNanos);
  }

  /**
   * Writes a record and adopts records before it.
   *
   * @return whether the record is current
   * @throws IOException if it is unknown whether the record was written, or the records before it
   *     cannot be read yet; the next read shows it
   */
  public boolean put(R next) throws IOException, InterruptedException {
    long offset = log.append(next.encode());
    takeUntil(offset);
    readTo = offset + 1;
    if (!next.holdsOver(current)) {
      return false;
    }
    holds(next, offset);
    return true;
  }

  /** Adopts records of other servers before a new one: reads lag behind appends. */
  private void takeUntil(long offset) throws IOException, InterruptedException {
    long from = readTo;
    while (from < offset) {
      List<JournalLog.Entry> entries = log.read(from);
      if (entries.isEmpty()) {
        throw new IOException(
            "Topic " + topic + " at " + place + " cannot be read at " + from + " yet");
      }
      for (JournalLog.Entry entry : entries) {
        if (entry.offset() < offset) {
          take(entry);
        }
        from = entry.offset() + 1;
      }
    }
  }
}
