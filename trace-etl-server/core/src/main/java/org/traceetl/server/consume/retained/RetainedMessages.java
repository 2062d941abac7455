package org.traceetl.server.consume.retained;

import com.google.common.base.Throwables;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.traceetl.common.Clocks;
import org.traceetl.common.Threads;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.NoAnswerException;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.window.QueueId;

/**
 * Reads the messages of spans that the broker retains, at a bounded rate. Joins no consumer group
 * and stores no offset. Not thread-safe.
 */
public final class RetainedMessages {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final long PROGRESS_MILLIS = 2_000;

  /** Of a part of a queue; a read returns fewer. */
  private static final int MIN_PART = 64;

  /** No broker retains messages for longer, so older ones are not searched for. */
  private static final Duration MAX_AGE = Duration.ofDays(366);

  private static final double NANOS_PER_SECOND = 1e9;

  private final RocketMqConfig rocketmq;
  private final Clocks clocks;
  private final PrintWriter progress;
  private final Patience patience;
  private long saidMillis;

  /**
   * Creates a reader that gives up at the first call without an answer.
   *
   * @param progress receives a line every few seconds
   */
  public RetainedMessages(RocketMqConfig rocketmq, Clocks clocks, PrintWriter progress) {
    this(rocketmq, clocks, progress, Duration.ZERO);
  }

  /**
   * @param progress receives a line every few seconds
   * @param patience how long to wait for name servers and brokers before messages are read
   */
  public RetainedMessages(
      RocketMqConfig rocketmq, Clocks clocks, PrintWriter progress, Duration patience) {
    this.rocketmq = rocketmq;
    this.clocks = clocks;
    this.progress = progress;
    this.patience = new Patience(patience, clocks, progress);
    saidMillis = clocks.millis();
  }

  /**
   * What was read of the messages since a time.
   *
   * @param fromMillis time since which messages were read, in milliseconds since 1970
   * @param isComplete whether all of these were read
   */
  public record Extent(long fromMillis, boolean isComplete) {}

  /**
   * How much is read, and how fast.
   *
   * @param messages maximum number of messages
   * @param bytesPerSecond maximum rate on average, since the first message was read
   * @param within maximum time; each queue has a part of it in proportion to its messages
   * @param readsAtOnce reads that await an answer at the same time, from 1; if more than 1, also of
   *     several parts of a queue, and messages arrive in no order, by several threads in turn
   */
  public record Limits(long messages, long bytesPerSecond, Duration within, int readsAtOnce) {
    /** Creates limits of queues that are read one after the other, by the caller's thread. */
    public Limits(long messages, long bytesPerSecond, Duration within) {
      this(messages, bytesPerSecond, within, 1);
    }

    /** Those of a command, which has its own process. */
    public static final Limits NONE =
        new Limits(Long.MAX_VALUE, Long.MAX_VALUE, Duration.ofDays(365));
  }

  /** Messages of a queue: offsets from {@code begin} to {@code end}, exclusive. */
  record Part(QueueId queue, JournalLog log, long begin, long end) {
    /** Returns the messages that are not older than this, and some older ones. */
    Part since(long unixMillis) throws IOException, InterruptedException {
      long first = log.offsetAt(Math.max(0, unixMillis));
      return new Part(queue, log, Math.max(begin, first), end);
    }

    /** Returns the messages that are older than this, except some of the newest. */
    Part until(long unixMillis) throws IOException, InterruptedException {
      long last = log.offsetAt(Math.max(0, unixMillis));
      return new Part(queue, log, begin, Math.min(end, last));
    }

    long messages() {
      return Math.max(0, end - begin);
    }
  }

  /**
   * What was read, so that a slow call is made up for by shorter pauses. It is also the lock of the
   * thread that passes on messages.
   */
  private final class Pace {
    private final long bytesPerSecond;
    private final long beginNanos = clocks.nanos();
    private long bytes;

    Pace(long bytesPerSecond) {
      this.bytesPerSecond = bytesPerSecond;
    }

    /** Returns how much earlier than allowed this was read. */
    long aheadNanos(long nowNanos) {
      return (long) (bytes * NANOS_PER_SECOND / bytesPerSecond) - (nowNanos - beginNanos);
    }
  }

  /** Receives the messages. */
  public interface Reader {
    /** The next messages are these, unless a limit is reached. */
    default void begin(long messages) {}

    /**
     * Adds a message of a queue. Unless several reads are made at once, messages of a queue arrive
     * in the order of their offsets.
     */
    void add(QueueId queue, byte[] message);

    /** Returns whether it must receive no more messages. */
    boolean isFull();
  }

  /**
   * Reads the newest messages, queue by queue, until the reader is full.
   *
   * @param messages maximum number, divided equally among the queues
   * @param since maximum age of a message; null for any
   * @throws IOException if the topic cannot be read
   */
  public void read(long messages, Duration since, Reader reader)
      throws IOException, InterruptedException {
    try (BrokerLogs logs = logs()) {
      logs.start();
      List<QueueId> queues = queues(logs);
      long ofEach = messages / queues.size();
      long more = messages % queues.size();
      for (int i = 0; i < queues.size() && !reader.isFull(); i++) {
        long most = ofEach + (i < more ? 1 : 0);
        Part all = all(logs, queues.get(i));
        Part newest = new Part(all.queue, all.log, Math.max(all.begin, all.end - most), all.end);
        Part part = since == null ? newest : newest.since(clocks.millis() - since.toMillis());
        read(part, new Pace(Long.MAX_VALUE), Limits.NONE.within().toNanos(), reader);
      }
    }
  }

  /**
   * Reads the messages since a time as {@link #read(Instant, Instant, Limits, Reader)} does.
   *
   * @param since maximum age of a message
   */
  public Extent read(Duration since, Limits limits, Reader reader)
      throws IOException, InterruptedException {
    try (BrokerLogs logs = logs()) {
      logs.start();
      return read(awaitAll(logs, limits.readsAtOnce()), since, limits, reader);
    }
  }

  /**
   * Reads the messages of an interval until the reader is full or a limit is reached. If the
   * messages are too many, the interval is halved, and keeps its end, until they are not.
   *
   * @param until end of the interval, exclusive; a time that is not over yet is the end of the log
   * @throws IOException if the topic cannot be read
   */
  public Extent read(Instant from, Instant until, Limits limits, Reader reader)
      throws IOException, InterruptedException {
    try (BrokerLogs logs = logs()) {
      logs.start();
      return read(awaitAll(logs, limits.readsAtOnce()), from, until, limits, reader);
    }
  }

  /**
   * Reads messages as the other method does.
   *
   * @param parts all messages of each queue; at least one queue
   */
  Extent read(List<Part> parts, Duration since, Limits limits, Reader reader)
      throws IOException, InterruptedException {
    Instant now = clocks.wall().instant();
    return read(
        parts, now.minus(since.compareTo(MAX_AGE) < 0 ? since : MAX_AGE), now, limits, reader);
  }

  /** Reads messages as the other method does. */
  Extent read(List<Part> parts, Instant from, Instant until, Limits limits, Reader reader)
      throws IOException, InterruptedException {
    long beginNanos = clocks.nanos();
    long untilMillis = until.toEpochMilli();
    long lengthMillis =
        Math.max(0, Math.min(untilMillis - from.toEpochMilli(), MAX_AGE.toMillis()));
    int atOnce = limits.readsAtOnce();
    List<Part> ended =
        untilMillis < clocks.millis()
            ? each(parts, atOnce, part -> part.until(untilMillis))
            : parts;
    List<Part> newest = since(ended, untilMillis - lengthMillis, atOnce);
    while (messages(newest) > limits.messages() && lengthMillis > 0) {
      lengthMillis /= 2;
      newest = since(newest, untilMillis - lengthMillis, atOnce);
    }
    reader.begin(messages(newest));
    long leftNanos = limits.within().toNanos() - (clocks.nanos() - beginNanos);
    boolean isComplete = read(newest, limits, leftNanos, reader);
    return new Extent(untilMillis - lengthMillis, isComplete && !reader.isFull());
  }

  /** Reads messages; returns whether this took no longer than allowed. */
  private boolean read(List<Part> parts, Limits limits, long withinNanos, Reader reader)
      throws IOException, InterruptedException {
    Pace pace = new Pace(limits.bytesPerSecond());
    if (limits.readsAtOnce() == 1) {
      return readInTurn(parts, pace, withinNanos, reader);
    }
    List<Part> divided = divided(parts, limits.readsAtOnce());
    if (divided.isEmpty()) {
      return true;
    }
    int threads = Math.min(limits.readsAtOnce(), divided.size());
    List<List<Part>> shares = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      List<Part> share = new ArrayList<>();
      for (int i = thread; i < divided.size(); i += threads) {
        share.add(divided.get(i));
      }
      shares.add(share);
    }
    return !each(shares, threads, share -> readInTurn(share, pace, withinNanos, reader))
        .contains(false);
  }

  /** Divides large parts, so that about this many are of equal size. */
  private static List<Part> divided(List<Part> parts, int count) {
    long size = Math.max(MIN_PART, Math.ceilDiv(messages(parts), count));
    List<Part> divided = new ArrayList<>();
    for (Part part : parts) {
      for (long begin = part.begin; begin < part.end; begin += size) {
        divided.add(new Part(part.queue, part.log, begin, Math.min(part.end, begin + size)));
      }
    }
    return divided;
  }

  /** A call of the broker, or several. */
  @FunctionalInterface
  private interface Call<T, R> {
    R of(T argument) throws IOException, InterruptedException;
  }

  /** Makes a call for each argument, on at most this many threads at once. */
  private <T, R> List<R> each(List<T> arguments, int threads, Call<T, R> call)
      throws IOException, InterruptedException {
    List<R> results = new ArrayList<>();
    if (threads == 1) {
      for (T argument : arguments) {
        results.add(call.of(argument));
      }
      return results;
    }
    try (ExecutorService executor =
        Executors.newFixedThreadPool(
            threads,
            work -> clocks.threads().create(Threads.Kind.DAEMON, "trace-retained", work))) {
      List<Future<R>> futures = new ArrayList<>();
      for (T argument : arguments) {
        futures.add(executor.submit(() -> call.of(argument)));
      }
      try {
        for (Future<R> future : futures) {
          results.add(future.get());
        }
        return results;
      } catch (ExecutionException e) {
        Throwables.throwIfInstanceOf(e.getCause(), IOException.class);
        Throwables.throwIfInstanceOf(e.getCause(), InterruptedException.class);
        Throwables.throwIfUnchecked(e.getCause());
        throw new IllegalStateException(e.getCause());
      } finally {
        executor.shutdownNow();
      }
    }
  }

  /** Reads messages queue by queue; returns whether this took no longer than allowed. */
  private boolean readInTurn(List<Part> parts, Pace pace, long withinNanos, Reader reader)
      throws IOException, InterruptedException {
    long beginNanos = clocks.nanos();
    long all = messages(parts);
    long messages = 0;
    boolean isComplete = true;
    for (Part part : parts) {
      messages += part.messages();
      long endNanos = (long) ((double) withinNanos * messages / all);
      isComplete &= read(part, pace, endNanos - (clocks.nanos() - beginNanos), reader);
    }
    return isComplete;
  }

  private static long messages(List<Part> parts) {
    return parts.stream().mapToLong(Part::messages).sum();
  }

  private List<Part> since(List<Part> parts, long unixMillis, int threads)
      throws IOException, InterruptedException {
    return each(parts, threads, part -> part.since(unixMillis));
  }

  private BrokerLogs logs() {
    return new RocketMqLogs(rocketmq, rocketmq.topic(), TIMEOUT, clocks);
  }

  /** Returns the queues of the topic in a fixed order; at least one. */
  private List<QueueId> queues(BrokerLogs logs) throws IOException, InterruptedException {
    List<QueueId> queues =
        logs.queues().stream().sorted((a, b) -> a.toString().compareTo(b.toString())).toList();
    if (queues.isEmpty()) {
      // As long as no broker of the topic is registered, it looks as if it did not exist.
      throw new NoAnswerException(
          "Topic " + rocketmq.topic() + " is not known to name server " + rocketmq.nameServer(),
          null);
    }
    return queues;
  }

  /** Returns all messages of each queue, once name servers and brokers answer. */
  List<Part> awaitAll(BrokerLogs logs, int threads) throws IOException, InterruptedException {
    return patience.await(() -> each(queues(logs), threads, queue -> all(logs, queue)));
  }

  private static Part all(BrokerLogs logs, QueueId queue) throws IOException, InterruptedException {
    JournalLog log = logs.open(queue);
    return new Part(queue, log, log.begin(), log.end());
  }

  /** Reads messages of a queue; returns whether this took no longer than allowed. */
  private boolean read(Part part, Pace pace, long withinNanos, Reader reader)
      throws IOException, InterruptedException {
    long endNanos = clocks.nanos() + withinNanos;
    long next = part.begin;
    while (next < part.end) {
      if (clocks.nanos() - endNanos >= 0) {
        return false;
      }
      List<JournalLog.Entry> entries = part.log.read(next);
      if (entries.isEmpty()) {
        return true;
      }
      next = entries.getLast().offset() + 1;
      long pauseNanos;
      synchronized (pace) {
        if (!add(part, entries, endNanos, reader)) {
          return false;
        }
        if (reader.isFull()) {
          return true;
        }
        entries.forEach(entry -> pace.bytes += entry.body().length);
        say(part.queue, next - part.begin, part.messages());
        long nowNanos = clocks.nanos();
        pauseNanos = Math.min(pace.aheadNanos(nowNanos), endNanos - nowNanos);
      }
      if (pauseNanos > 0 && next < part.end) {
        clocks.pause().nanos(pauseNanos);
      }
    }
    return true;
  }

  /** Passes on messages; returns whether this took no longer than allowed. */
  private boolean add(Part part, List<JournalLog.Entry> entries, long endNanos, Reader reader)
      throws InterruptedException {
    for (JournalLog.Entry entry : entries) {
      // Expressions can make a message take long.
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (clocks.nanos() - endNanos >= 0) {
        return false;
      }
      if (entry.offset() < part.end && !reader.isFull()) {
        reader.add(part.queue, entry.body());
      }
    }
    return true;
  }

  private void say(QueueId queue, long read, long of) {
    long nowMillis = clocks.millis();
    if (nowMillis - saidMillis >= PROGRESS_MILLIS) {
      saidMillis = nowMillis;
      progress.println("queue " + queue + ": " + Math.min(read, of) + " of " + of + " messages");
    }
  }
}
