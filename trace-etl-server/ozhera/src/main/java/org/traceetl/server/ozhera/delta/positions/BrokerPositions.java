package org.traceetl.server.ozhera.delta.positions;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Stores scrapers' positions as offsets of consumer groups on the span topic, and reads journals.
 */
public record BrokerPositions(BrokerLogs logs, LogJournals journals, String spanTopic)
    implements ScraperPositions {
  @Override
  public long load(QueueId queue, String group) throws IOException, InterruptedException {
    return logs.open(spanTopic, queue).mark(group);
  }

  @Override
  public void store(QueueId queue, String group, long offset)
      throws IOException, InterruptedException {
    logs.open(spanTopic, queue).mark(group, offset);
  }

  @Override
  public void read(
      QueueId queue,
      long sinceMillis,
      Consumer<QueueImage> snapshots,
      Predicate<SealedWindow> windows)
      throws IOException, InterruptedException {
    JournalTail tail = journals.tail(queue, Math.max(0, sinceMillis), snapshots);
    while (true) {
      List<JournalTail.Kept> kept = tail.poll();
      if (kept.isEmpty() && tail.lag() == 0) {
        return;
      }
      for (JournalTail.Kept next : kept) {
        if (!windows.test(next.window())) {
          return;
        }
      }
    }
  }
}
