package org.traceetl.server.features.preview;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
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
    String topic = rocketmq.topic();
    try (RocketMqLogs logs = new RocketMqLogs(rocketmq, topic, TIMEOUT, clocks)) {
      logs.start();
      List<QueueId> queues =
          logs.queues().stream().sorted((a, b) -> a.toString().compareTo(b.toString())).toList();
      if (queues.isEmpty()) {
        throw new IOException(
            "Topic " + topic + " is not known to name server " + rocketmq.nameServer());
      }
      long ofEach = messages / queues.size();
      long more = messages % queues.size();
      for (int i = 0; i < queues.size() && !reader.isFull(); i++) {
        long most = ofEach + (i < more ? 1 : 0);
        read(logs.open(queues.get(i)), queues.get(i), most, since, reader);
      }
    }
  }

  private void read(JournalLog log, QueueId queue, long most, Duration since, Reader reader)
      throws IOException, InterruptedException {
    long end = log.end();
    long begin = Math.max(log.begin(), end - most);
    if (since != null) {
      begin = Math.max(begin, log.offsetAt(clocks.millis() - since.toMillis()));
    }
    long next = begin;
    while (next < end && !reader.isFull()) {
      List<JournalLog.Entry> entries = log.read(next);
      if (entries.isEmpty()) {
        return;
      }
      for (JournalLog.Entry entry : entries) {
        if (entry.offset() < end && !reader.isFull()) {
          reader.add(queue, entry.body());
        }
        next = entry.offset() + 1;
      }
      say(queue, next - begin, end - begin);
    }
  }

  private void say(QueueId queue, long read, long of) {
    long nowMillis = clocks.millis();
    if (nowMillis - saidMillis >= PROGRESS_MILLIS) {
      saidMillis = nowMillis;
      progress.println("queue " + queue + ": " + Math.min(read, of) + " of " + of + " messages");
    }
  }
}
