package org.traceetl.server.journal;

import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * A sink in this process that receives the windows kept for its queues, from {@link #restored} to
 * {@link #released}. It receives each queue's windows in order, from one thread at a time.
 */
public interface WindowFollower {
  /**
   * Called when this process has taken the queue over.
   *
   * @param image the sum of all windows kept so far; its series may be read at any later time, its
   *     history may not
   * @param showFromNanos when its counts may first be shown, by {@link System#nanoTime}
   */
  default void restored(QueueId queue, QueueImage image, long showFromNanos) {}

  /** Receives a kept window. Must not block for longer than its memory operations take. */
  void window(SealedWindow window);

  /** Sets until when the queue's counts may be shown, by {@link System#nanoTime}. */
  default void shownUntil(QueueId queue, long nanos) {}

  /**
   * Removes the queue's series from this sink, because this process no longer owns the queue. They
   * are hidden when this returns.
   */
  void released(QueueId queue);
}
