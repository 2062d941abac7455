package org.traceetl.server.journal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Distributes the windows of all queues of the fleet, whoever owns them. One reader passes them to
 * all listeners.
 */
public final class FleetWindows {
  /** Receives windows on the thread that reads the journals. */
  public interface Listener {
    /** Receives each window of each queue. */
    void window(SealedWindow window);

    /** Receives the series that a queue had before its first window; read-only, not to be kept. */
    default void series(QueueId queue, QueueImage image) {}
  }

  private final List<Listener> listeners = new CopyOnWriteArrayList<>();

  /** Null if there is no reader. */
  private BooleanSupplier readerUpToDate;

  /**
   * Sets the reader. Call it at most once, before the start.
   *
   * @param upToDate returns whether the newest windows of each queue were read
   * @return receives what is read
   */
  public Listener readBy(BooleanSupplier upToDate) {
    readerUpToDate = upToDate;
    return new Listener() {
      @Override
      public void window(SealedWindow window) {
        listeners.forEach(listener -> listener.window(window));
      }

      @Override
      public void series(QueueId queue, QueueImage image) {
        listeners.forEach(listener -> listener.series(queue, image));
      }
    };
  }

  /** Returns whether there is a reader. */
  public boolean available() {
    return readerUpToDate != null;
  }

  /** Adds a listener. Call it before the start. */
  public void subscribe(Listener listener) {
    listeners.add(listener);
  }

  /** Returns whether the newest windows of each queue were delivered. */
  public boolean upToDate() {
    return available() && readerUpToDate.getAsBoolean();
  }
}
