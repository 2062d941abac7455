package org.traceetl.server.journal.chain;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.journal.format.WindowInvariants;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Decodes the windows of a queue's log. A window that violates {@link WindowInvariants} is counted
 * and returned: all readers must agree on what counts, and readers of earlier versions apply it.
 */
final class ReadWindows {
  private static final Logger log = LoggerFactory.getLogger(ReadWindows.class);

  private final QueueId queue;
  private final RecordPayloads payloads;
  private final JournalCounters counters;
  private boolean logged;

  ReadWindows(QueueId queue, RecordPayloads payloads, JournalCounters counters) {
    this.queue = queue;
    this.payloads = payloads;
    this.counters = counters;
  }

  /**
   * @throws MalformedRecordException if the record cannot be decoded
   */
  SealedWindow window(LogRecord record) throws MalformedRecordException {
    SealedWindow window = payloads.window(queue, record);
    String violated = WindowInvariants.violated(window);
    if (violated != null) {
      counters.rejected(RecordRejection.INCONSISTENT);
      if (!logged) {
        logged = true;
        log.error(
            "Window [{}, {}) in the journal of queue {} is inconsistent and counts as it is; report"
                + " it. It has {}",
            window.from(),
            window.to(),
            queue,
            violated);
      }
    }
    return window;
  }
}
