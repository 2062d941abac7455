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
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.MalformedDecisionsException;
import org.traceetl.proto.RecordFormat;
import org.traceetl.proto.RoutingRecord;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/**
 * The record of one kind that holds, in the topic where agents and all servers read it: read, taken
 * over by {@link RoutingRecord#holdsOver}, and put in place of another one. One thread, but for
 * {@link #refused}.
 */
public final class PublishedRecord<R extends RoutingRecord> {
  private static final Logger LOG = LoggerFactory.getLogger(PublishedRecord.class);

  /** The broker forgets old messages: a record is written again before it could. */
  private static final long REPEAT_NANOS = TimeUnit.HOURS.toNanos(1);

  /** So many of the newest records are read, here and by agents. */
  private static final int NEWEST = 32;

  /**
   * Behind so many others it is written again: of two kinds neither is to push the other out of the
   * newest.
   */
  private static final int BURIED = NEWEST / 2;

  private static final List<RecordFormat<?>> KINDS =
      List.of(HotspotDecisions.FORMAT, LearntNames.FORMAT);

  private final String topic;
  private final RecordFormat<R> format;
  private final LongFunction<R> nothing;
  private final DecisionLog decisions;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final long startMillis;
  private final long startNanos;
  private final LogThrottle throttle;
  private final Consumer<R> listener;
  private final LongAdder refused = new LongAdder();

  /** Null while the topic is not known to exist. */
  private QueueId place;

  /** The one at that place. */
  private JournalLog log;

  private long readTo;

  /** Of the log, when it was read last. */
  private long end;

  private R current;

  /** Whether it is in that log. */
  private boolean written;

  /** When it was put or found there. */
  private long writtenNanos;

  /** And where. */
  private long writtenAt;

  /**
   * @param nothing makes the record that nothing is decided, by its epoch
   * @param listener told each time that another record holds
   */
  public PublishedRecord(
      String topic,
      RecordFormat<R> format,
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

  /** The one that holds. */
  public R current() {
    return current;
  }

  /** Records in the topic that could not be read. Any thread. */
  public long refused() {
    return refused.sum();
  }

  /**
   * Finds out where records stand now; what holds is to stand there as well.
   *
   * @return whether there is such a place: the topic exists
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
   * Takes over what stands newest in the log.
   *
   * @return whether all of it could be read
   */
  public boolean read() throws IOException, InterruptedException {
    end = log.end();
    if (end < readTo) {
      // The topic was made anew: what holds is to stand in it again.
      readTo = 0;
      written = false;
    }
    long from = Math.max(readTo, end - NEWEST);
    boolean given = true;
    while (given && from < end) {
      List<JournalLog.Entry> entries = log.read(from);
      if (entries.isEmpty()) {
        // The broker has forgotten all of it, or gives it only later.
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
      // A wall clock that was set back makes no record one of the future.
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
   * Writes again what holds where agents could not find it any more: the broker forgets, and others
   * write as well. Where nothing holds, that is written: agents may know what no server knows any
   * more, of a topic before this one.
   *
   * @param readAll what {@link #read} has answered
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
   * Epoch of a record that is to hold: above all before it, also where the topic was made anew. Not
   * of a wall clock that was set forward: all others would refuse it, and each one after it.
   */
  public long nextEpoch() {
    return Math.max(current.epoch() + 1, Math.min(clock.millis(), elapsedMillis()));
  }

  /** The Unix time if nobody has set the wall clock since the start. */
  private long elapsedMillis() {
    return startMillis + TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - startNanos);
  }

  /**
   * Writes a record and takes over what came before it.
   *
   * @return whether it holds
   * @throws IOException if it is not known whether it is there: the next read will tell; also while
   *     the broker does not give yet what came before
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

  /** What others have written before a record of ours: reads lag behind appends. */
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
