package org.traceetl.server.journal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.traceetl.server.window.SealedWindow;

/**
 * What the journals of all queues have, whoever owns them, for those that look at the fleet. One
 * reader passes it to all listeners.
 */
public final class FleetWindows {
  /** Receives what the journals have, on the thread that reads them. */
  public interface Listener {
    /** Each window of each queue. */
    void window(SealedWindow window);

    /** The series that a queue had before its first window; only to be read, and now. */
    default void series(QueueImage image) {}
  }

  private final List<Listener> listeners = new CopyOnWriteArrayList<>();

  /** Null without a reader. */
  private BooleanSupplier readerUpToDate;

  /**
   * Sets the reader. At most once, before the start.
   *
   * @param upToDate whether the newest windows of each queue were read
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
      public void series(QueueImage image) {
        listeners.forEach(listener -> listener.series(image));
      }
    };
  }

  /** Whether there is a reader. */
  public boolean available() {
    return readerUpToDate != null;
  }

  /** Adds a listener. Called before the start. */
  public void subscribe(Listener listener) {
    listeners.add(listener);
  }

  /** Whether the newest windows of each queue were given; before, some would seem empty. */
  public boolean upToDate() {
    return available() && readerUpToDate.getAsBoolean();
  }
}
