package org.traceetl.server.journal.chain;

import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.chain.JournalReader.Visitor;
import org.traceetl.server.journal.format.LastMessagesFormat;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/** The sum of all windows that count. For one thread at a time. */
public final class ReplayedState implements Visitor {
  private final QueueId queue;
  private final RecordPayloads payloads;
  private QueueImage image;

  private LastMessages lastMessages = LastMessages.NONE;

  /** The chain before the last claim. */
  private JournalChain predecessor = JournalChain.FRESH;

  ReplayedState(QueueId queue, RecordPayloads payloads) {
    this.queue = queue;
    this.payloads = payloads;
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
    LastMessages read = LastMessagesFormat.decode(record.payload());
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
        image.apply(payloads.window(queue, record));
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
