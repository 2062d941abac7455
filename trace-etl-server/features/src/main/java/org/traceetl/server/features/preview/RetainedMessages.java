package org.traceetl.server.features.preview;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.window.QueueId;

/**
 * Reads the messages of spans that the broker retains. Joins no consumer group and stores no
 * offset. Not thread-safe.
 */
final class RetainedMessages {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final long PROGRESS_MILLIS = 2_000;

  /** No broker retains messages for longer, so older ones are not searched for. */
  private static final Duration MAX_AGE = Duration.ofDays(366);

  private static final double NANOS_PER_SECOND = 1e9;

  private final RocketMqConfig rocketmq;
  private final Clocks clocks;
  private final PrintWriter progress;
  private long saidMillis;

  /**
   * @param progress receives a line every few seconds
   */
  RetainedMessages(RocketMqConfig rocketmq, Clocks clocks, PrintWriter progress) {
    this.rocketmq = rocketmq;
    this.clocks = clocks;
    this.progress = progress;
    saidMillis = clocks.millis();
  }

  /**
   * What was read of the messages since a time.
   *
   * @param fromMillis time since which messages were read, in milliseconds since 1970
   * @param isComplete whether all of these were read
   */
  record Extent(long fromMillis, boolean isComplete) {}

  /** Messages of a queue: offsets from {@code begin} to {@code end}, exclusive. */
  record Part(QueueId queue, JournalLog log, long begin, long end) {
    /** Returns the messages that are not older than this, and some older ones. */
    Part since(long unixMillis) throws IOException, InterruptedException {
      long first = log.offsetAt(Math.max(0, unixMillis));
      return new Part(queue, log, Math.max(begin, first), end);
    }

    long messages() {
      return Math.max(0, end - begin);
    }
  }

  /** Receives the messages. */
  interface Reader {
    /** Adds a message of a queue. Messages of a queue arrive in the order of their offsets. */
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
  void read(long messages, Duration since, Reader reader) throws IOException, InterruptedException {
    try (RocketMqLogs logs = logs()) {
      List<QueueId> queues = queues(logs);
      long ofEach = messages / queues.size();
      long more = messages % queues.size();
      for (int i = 0; i < queues.size() && !reader.isFull(); i++) {
        long most = ofEach + (i < more ? 1 : 0);
        Part all = all(logs, queues.get(i));
        Part newest = new Part(all.queue, all.log, Math.max(all.begin, all.end - most), all.end);
        Part part = since == null ? newest : newest.since(clocks.millis() - since.toMillis());
        read(part, PreviewLimits.COMMAND, Long.MAX_VALUE, reader);
      }
    }
  }

  /**
   * Reads the messages since a time, queue by queue, until the reader is full or a limit is
   * reached. If the messages are too many, their maximum age is halved until they are not.
   *
   * @param since maximum age of a message
   * @throws IOException if the topic cannot be read
   */
  Extent read(Duration since, PreviewLimits limits, Reader reader)
      throws IOException, InterruptedException {
    try (RocketMqLogs logs = logs()) {
      List<Part> parts = new ArrayList<>();
      for (QueueId queue : queues(logs)) {
        parts.add(all(logs, queue));
      }
      return read(parts, since, limits, reader);
    }
  }

  /**
   * Reads messages as the other method does.
   *
   * @param parts all messages of each queue; at least one queue
   */
  Extent read(List<Part> parts, Duration since, PreviewLimits limits, Reader reader)
      throws IOException, InterruptedException {
    long beginNanos = clocks.nanos();
    long nowMillis = clocks.millis();
    long ageMillis = Math.min(since.toMillis(), MAX_AGE.toMillis());
    List<Part> newest = since(parts, nowMillis - ageMillis);
    while (newest.stream().mapToLong(Part::messages).sum() > limits.messages() && ageMillis > 0) {
      ageMillis /= 2;
      newest = since(newest, nowMillis - ageMillis);
    }
    long ofEachNanos = limits.within().toNanos() / newest.size();
    boolean isComplete = true;
    for (int i = 0; i < newest.size() && !reader.isFull(); i++) {
      long leftNanos = ofEachNanos * (i + 1) - (clocks.nanos() - beginNanos);
      isComplete &= read(newest.get(i), limits, leftNanos, reader);
    }
    return new Extent(nowMillis - ageMillis, isComplete && !reader.isFull());
  }

  private static List<Part> since(List<Part> parts, long unixMillis)
      throws IOException, InterruptedException {
    List<Part> newest = new ArrayList<>();
    for (Part part : parts) {
      newest.add(part.since(unixMillis));
    }
    return newest;
  }

  private RocketMqLogs logs() {
    return new RocketMqLogs(rocketmq, rocketmq.topic(), TIMEOUT, clocks);
  }

  /** Starts the client, and returns the queues of the topic in a fixed order; at least one. */
  private List<QueueId> queues(RocketMqLogs logs) throws IOException, InterruptedException {
    logs.start();
    List<QueueId> queues =
        logs.queues().stream().sorted((a, b) -> a.toString().compareTo(b.toString())).toList();
    if (queues.isEmpty()) {
      throw new IOException(
          "Topic " + rocketmq.topic() + " is not known to name server " + rocketmq.nameServer());
    }
    return queues;
  }

  private static Part all(RocketMqLogs logs, QueueId queue)
      throws IOException, InterruptedException {
    JournalLog log = logs.open(queue);
    return new Part(queue, log, log.begin(), log.end());
  }

  /** Reads messages of a queue; returns whether this took no longer than allowed. */
  private boolean read(Part part, PreviewLimits limits, long withinNanos, Reader reader)
      throws IOException, InterruptedException {
    long beginNanos = clocks.nanos();
    long next = part.begin;
    while (next < part.end && !reader.isFull()) {
      List<JournalLog.Entry> entries = part.log.read(next);
      if (entries.isEmpty()) {
        return true;
      }
      long bytes = 0;
      for (JournalLog.Entry entry : entries) {
        // Expressions can make a message take long.
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (clocks.nanos() - beginNanos >= withinNanos) {
          return false;
        }
        if (entry.offset() < part.end && !reader.isFull()) {
          reader.add(part.queue, entry.body());
        }
        bytes += entry.body().length;
        next = entry.offset() + 1;
      }
      say(part.queue, next - part.begin, part.messages());
      long pauseNanos = (long) (bytes * NANOS_PER_SECOND / limits.bytesPerSecond());
      if (pauseNanos > 0) {
        clocks.pause().nanos(pauseNanos);
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
