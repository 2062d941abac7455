package org.traceetl.server.journal.chain;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.chain.JournalReader.Visitor;
import org.traceetl.server.journal.format.LastMessagesFormat;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** The sum of all windows that count. For one thread at a time. */
public final class ReplayedState implements Visitor {
  private static final Logger log = LoggerFactory.getLogger(ReplayedState.class);

  private final QueueId queue;
  private final RecordPayloads payloads;
  private final JournalCounters counters;
  private final ReadWindows windows;
  private QueueImage image;

  private LastMessages lastMessages = LastMessages.NONE;

  /** The chain before the last claim. */
  private JournalChain predecessor = JournalChain.FRESH;

  /**
   * @param counters count inconsistent records, and windows with rows of unknown series
   */
  ReplayedState(QueueId queue, RecordPayloads payloads, JournalCounters counters) {
    this.queue = queue;
    this.payloads = payloads;
    this.counters = counters;
    windows = new ReadWindows(queue, payloads, counters);
    image = payloads.newImage().get();
  }

  QueueImage image() {
    return image;
  }

  /** Returns the chain before the last claim. */
  JournalChain predecessor() {
    return predecessor;
  }

  @Override
  public void renewed(LogRecord record) throws MalformedRecordException {
    LastMessages read = LastMessagesFormat.decode(record);
    if (read != null) {
      lastMessages = read;
    }
  }

  /** Returns the known places up to the end of the last window. */
  LastMessages lastMessages() {
    return lastMessages.upTo(image.to());
  }

  @Override
  public void counts(LogRecord record, JournalChain before) throws MalformedRecordException {
    switch (record.header().kind()) {
      case CLAIM -> {
        predecessor = before;
        claim(record, before);
      }
      case WINDOW -> {
        apply(windows.window(record), record, before);
        ownerWrote(record);
      }
      case SNAPSHOT -> {
        if (!before.sure()) {
          image = payloads.image(record);
          countContradictions(record, 0);
        }
        ownerWrote(record);
      }
      case RELEASE -> ownerWrote(record);
      case STEP -> {
        // A step is not written by the owner.
      }
    }
  }

  private void claim(LogRecord record, JournalChain before) {
    boolean isKnown = before.isKnownTo(record.header());
    if (!isKnown) {
      image.forgetEdges(); // as the claimant did, which lacks records
    }
    // If only this reader lacks records, it does not know what the claimant continues.
    if (!isKnown || before.sure()) {
      image.claimed();
    }
  }

  private void apply(SealedWindow window, LogRecord record, JournalChain before) {
    if (!before.isNext(record.header())) {
      image.forgetEdges(); // the windows between are missing
    }
    long unknownRows = image.unknownRows();
    long contradictions = image.contradictedEdges();
    image.apply(window);
    // The window counts, as for readers that do not know the series; only these rows do not.
    if (before.sure() && image.unknownRows() > unknownRows) {
      counters.rejected(RecordRejection.UNKNOWN_SERIES);
    }
    countContradictions(record, contradictions);
  }

  /** The record counts, as for readers that keep no half-edges; only its half-edges do not. */
  private void countContradictions(LogRecord record, long before) {
    if (image.contradictedEdges() > before) {
      counters.rejected(RecordRejection.INCONSISTENT);
      log.error(
          "The {} at offset {} of the journal of queue {} contradicts the open half-edges; report"
              + " it. The queue's next owner begins without half-edges, and the open ones do not"
              + " count.",
          record.header().kind(),
          record.first(),
          queue);
    }
  }

  private void ownerWrote(LogRecord record) {
    image.ownedUntil(record.header().writtenMillis());
  }
}
