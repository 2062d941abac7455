package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.util.List;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.format.ChunkFormat;

/**
 * Searches for the {@link StepOverRecord} of a message that stops a reader. A search continues
 * where the previous one ended, so each message is read once. For one thread at a time.
 */
public final class StepOverSearch {
  private final JournalLog messages;
  private final ChunkFormat format;

  /** Offset of the message that was searched for last, the message, and how far. */
  private long stop = JournalLog.NONE;

  private byte[] stopping = JournalLog.LEFT_OUT;
  private long at;

  StepOverSearch(JournalLog messages, ChunkFormat format) {
    this.messages = messages;
    this.format = format;
  }

  /** Returns whether the log has a step over the message at an offset. */
  boolean isOver(long offset) throws IOException, InterruptedException {
    if (stop != offset) {
      stop = offset;
      at = offset;
    }
    while (true) {
      List<Entry> entries = messages.read(at);
      if (entries.isEmpty()) {
        return false;
      }
      for (Entry entry : entries) {
        if (entry.offset() == offset) {
          stopping = entry.body();
        }
        StepOverRecord step = StepOverRecord.read(entry.body(), format);
        if (step != null && step.isOver(offset, stopping)) {
          return true;
        }
        at = entry.offset() + 1;
      }
    }
  }
}
