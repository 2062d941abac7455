package org.traceetl.server.journal.log;

import java.io.IOException;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.window.QueueId;

/** Opens logs whose messages are authenticated with the servers' keys. Thread-safe. */
public final class AuthenticatedLogs implements JournalLogs {
  private final JournalLogs logs;
  private final String topic;
  private final JournalKeys keys;
  private final JournalCounters counters;

  /**
   * @param logs closed with this
   * @param topic of the journal
   */
  public AuthenticatedLogs(
      JournalLogs logs, String topic, JournalKeys keys, JournalCounters counters) {
    this.logs = logs;
    this.topic = topic;
    this.keys = keys;
    this.counters = counters;
  }

  @Override
  public JournalLog open(QueueId queue) throws IOException, InterruptedException {
    return new AuthenticatedLog(logs.open(queue), topic, queue, keys, counters);
  }

  @Override
  public void close() {
    logs.close();
  }
}
