package org.traceetl.server.features.index;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;

/** The owner of a queue, whose windows have documents and nothing else. */
final class DocumentSource {
  private final QueueId queue;
  private final QueueJournal journal;
  private long to;

  /** Takes the queue: whoever had it before is fenced. */
  DocumentSource(QueueId queue, LogJournals journals) throws Exception {
    this.queue = queue;
    Journal.Taken taken = journals.take(queue);
    journal = taken.journal();
    to = Math.max(0, taken.image().to());
  }

  static LogJournals journals(JournalLogs logs, InstantSource clock) {
    return new LogJournals(
        logs,
        "trace-spans",
        "servers",
        () -> new QueueImage(1, 2, 1 << 20),
        new JournalTiming(
            new Clocks(System::nanoTime, clock),
            new Random(),
            Duration.ofSeconds(30),
            Duration.ofMinutes(10)),
        new JournalCounters());
  }

  /** Appends a window; it does not count if the queue is somebody else's. */
  void append(long sealedMillis, List<TraceDocument> documents) throws Exception {
    journal.append(window(queue, to, ++to, sealedMillis, documents));
  }

  private static SealedWindow window(
      QueueId queue, long from, long to, long sealedMillis, List<TraceDocument> documents) {
    return new RowlessWindow(queue, from, to, sealedMillis - 15_000, sealedMillis)
        .stride(2)
        .documents(documents)
        .seal();
  }
}
