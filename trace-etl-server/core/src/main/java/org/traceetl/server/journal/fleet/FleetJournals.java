package org.traceetl.server.journal.fleet;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.chain.JournalComponent;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.window.QueueId;

/** Access to the journals of all queues. */
public interface FleetJournals {
  /**
   * Returns the existing queues.
   *
   * @throws IOException if they cannot be determined now
   */
  Set<QueueId> queues() throws IOException, InterruptedException;

  /**
   * Opens a queue's journal at about the given time.
   *
   * @param sinceMillis milliseconds since 1970
   * @param snapshots receives the series of the first snapshot
   * @throws IOException if there is none, or its existence cannot be determined now
   */
  JournalTail open(QueueId queue, long sinceMillis, Consumer<QueueImage> snapshots)
      throws IOException, InterruptedException;

  /** Returns access to the queues of a server's journal. */
  static FleetJournals of(JournalComponent journal) {
    return new FleetJournals() {
      @Override
      public Set<QueueId> queues() throws IOException, InterruptedException {
        return journal.logs().queues();
      }

      @Override
      public JournalTail open(QueueId queue, long sinceMillis, Consumer<QueueImage> snapshots)
          throws IOException, InterruptedException {
        return journal.journals().tail(queue, sinceMillis, snapshots);
      }
    };
  }
}
