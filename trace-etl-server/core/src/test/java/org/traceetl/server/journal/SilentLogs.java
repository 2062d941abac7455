package org.traceetl.server.journal;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.traceetl.server.window.QueueId;

/** Logs of which one broker answers no read until {@link #answer}, as if packets were dropped. */
public final class SilentLogs implements JournalLogs {
  private final JournalLogs logs;
  private final String broker;
  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch answer = new CountDownLatch(1);

  public SilentLogs(JournalLogs logs, String broker) {
    this.logs = logs;
    this.broker = broker;
  }

  /** Waits until a reader reads from the silent broker. */
  public void awaitReader() throws InterruptedException {
    asked.await();
  }

  public void answer() {
    answer.countDown();
  }

  @Override
  public JournalLog open(QueueId queue) throws IOException, InterruptedException {
    JournalLog log = logs.open(queue);
    return queue.broker().equals(broker) ? new SilentLog(log) : log;
  }

  @Override
  public void close() {
    logs.close();
  }

  private final class SilentLog extends ForwardingLog {
    SilentLog(JournalLog log) {
      super(log);
    }

    @Override
    public List<Entry> read(long from) throws IOException, InterruptedException {
      asked.countDown();
      answer.await();
      return log.read(from);
    }
  }
}
