package org.traceetl.server.journal.chain;

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

/** The sum of all windows that count. For one thread at a time. */
public final class ReplayedState implements Visitor {
  private final RecordPayloads payloads;
  private final JournalCounters counters;
  private final ReadWindows windows;
  private QueueImage image;

  private LastMessages lastMessages = LastMessages.NONE;

  /** The chain before the last claim. */
  private JournalChain predecessor = JournalChain.FRESH;

  /**
   * @param counters count inconsistent windows, and windows with rows of unknown series
   */
  ReplayedState(QueueId queue, RecordPayloads payloads, JournalCounters counters) {
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
      case CLAIM -> predecessor = before;
      case WINDOW -> {
        long unknownRows = image.unknownRows();
        image.apply(windows.window(record));
        // The window counts, as for readers that do not know the series; only these rows do not.
        if (before.sure() && image.unknownRows() > unknownRows) {
          counters.rejected(RecordRejection.UNKNOWN_SERIES);
        }
        ownerWrote(record);
      }
      case SNAPSHOT -> {
        if (!before.sure()) {
          image = payloads.image(record);
        }
        ownerWrote(record);
      }
      case RELEASE -> ownerWrote(record);
      case STEP -> {
        // A step is not written by the owner.
      }
    }
  }

  private void ownerWrote(LogRecord record) {
    image.ownedUntil(record.header().writtenMillis());
  }
}
