package org.traceetl.server.ozhera.delta.positions;

import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Access to what the brokers store: the position of each scraper in each queue of the span topic,
 * and the queues' journals. Each call waits for a broker. Thread-safe.
 */
public interface ScraperPositions {
  /**
   * Returns the offset up to which a scraper received windows, or {@link
   * org.traceetl.server.journal.JournalLog#NONE} if the broker has none.
   *
   * @param group consumer group of the scraper
   */
  long load(QueueId queue, String group) throws IOException, InterruptedException;

  /** Stores the offset up to which a scraper received windows. */
  void store(QueueId queue, String group, long offset) throws IOException, InterruptedException;

  /**
   * Reads a queue's journal from a point in time.
   *
   * @param sinceMillis milliseconds since 1970
   * @param snapshots receives the state of the queue at each snapshot that restores it
   * @param windows receives each valid window in order, and returns false to stop the read
   */
  void read(
      QueueId queue,
      long sinceMillis,
      Consumer<QueueImage> snapshots,
      Predicate<SealedWindow> windows)
      throws IOException, InterruptedException;
}
