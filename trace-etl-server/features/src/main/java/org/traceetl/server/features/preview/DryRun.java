package org.traceetl.server.features.preview;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.window.QueueId;

/**
 * Reads messages from the broker and prints how many series the configuration would create from
 * them. Joins no consumer group and stores no offset.
 */
public final class DryRun {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_KEYS = 5_000_000;
  private static final long PROGRESS_MILLIS = 2_000;

  private final RocketMqConfig rocketmq;
  private final SeriesConfig series;
  private final MappedProfile profile;
  private final Clocks clocks;
  private final PrintWriter out;
  private final PrintWriter progress;
  private long saidMillis;

  /**
   * @param profile null if the messages need no mapping
   */
  public DryRun(
      RocketMqConfig rocketmq,
      SeriesConfig series,
      MappedProfile profile,
      Clocks clocks,
      PrintWriter out,
      PrintWriter progress) {
    this.rocketmq = rocketmq;
    this.series = series;
    this.profile = profile;
    this.clocks = clocks;
    this.out = out;
    this.progress = progress;
    saidMillis = clocks.millis();
  }

  /**
   * Reads the newest messages.
   *
   * @param messages maximum number, divided equally among the queues
   * @param since maximum age of a message; null for any
   * @throws IOException if the topic cannot be read
   */
  public void run(long messages, Duration since) throws IOException, InterruptedException {
    String topic = rocketmq.topic();
    Preview preview = new Preview(series, Messages.of(rocketmq.messages()), profile, MAX_KEYS);
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
      for (int i = 0; i < queues.size() && !preview.isFull(); i++) {
        long most = ofEach + (i < more ? 1 : 0);
        read(logs.open(queues.get(i)), queues.get(i), most, since, preview);
      }
    }
    preview.print(out);
  }

  private void read(JournalLog log, QueueId queue, long most, Duration since, Preview preview)
      throws IOException, InterruptedException {
    long end = log.end();
    long begin = Math.max(log.begin(), end - most);
    if (since != null) {
      begin = Math.max(begin, log.offsetAt(clocks.millis() - since.toMillis()));
    }
    long next = begin;
    while (next < end && !preview.isFull()) {
      List<JournalLog.Entry> entries = log.read(next);
      if (entries.isEmpty()) {
        return;
      }
      for (JournalLog.Entry entry : entries) {
        if (entry.offset() < end && !preview.isFull()) {
          preview.add(entry.body());
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
