package org.traceetl.server.ozhera.delta;

import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * What the brokers keep: how far each scraper has come in each queue of the span topic, and the
 * queues' windows. Each call waits for a broker. Safe for any thread.
 */
public interface ScraperPlaces {
  /**
   * Offset up to which windows were given to a group's scraper, or {@link
   * org.traceetl.server.journal.JournalLog#NONE}.
   */
  long mark(QueueId queue, String group) throws IOException, InterruptedException;

  /** Marks it. */
  void mark(QueueId queue, String group, long offset) throws IOException, InterruptedException;

  /**
   * Reads what a queue's journal has from a time on.
   *
   * @param sinceMillis milliseconds since 1970
   * @param snapshots told of the queue's state where it comes to be known
   * @param windows told of each window that counts, in order, until it answers false
   */
  void read(
      QueueId queue,
      long sinceMillis,
      Consumer<QueueImage> snapshots,
      Predicate<SealedWindow> windows)
      throws IOException, InterruptedException;
}
