package org.traceetl.server.journal;

import org.traceetl.server.window.SealedWindow;

/** What the journals of all queues have, whoever owns them, for those that look at the fleet. */
public interface FleetWindows {
  /** Is given what the journals have, on the thread that reads them. */
  interface Listener {
    /** Each window of each queue. */
    void window(SealedWindow window);

    /** The series that a queue had before its first window; only to be read, and now. */
    default void series(QueueImage image) {}
  }

  /** Adds a listener. Called before the start. */
  void subscribe(Listener listener);

  /** Whether the newest windows of each queue were given; before, some would seem empty. */
  boolean upToDate();
}
