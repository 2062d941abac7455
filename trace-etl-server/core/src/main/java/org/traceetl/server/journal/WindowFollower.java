package org.traceetl.server.journal;

import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * A sink inside the process that follows what its queues' journals keep, from {@link #restored} to
 * {@link #released}: each queue's windows in order, from one thread at a time.
 */
public interface WindowFollower {
  /**
   * This process has taken the queue over.
   *
   * @param image what all windows kept so far add up to; its series may be read at any later time,
   *     its history may not
   * @param showFromNanos from when on its counts may be shown, by {@link System#nanoTime}
   */
  default void restored(QueueId queue, QueueImage image, long showFromNanos) {}

  /** A window that is kept. Must not block longer than its own memory work takes. */
  void window(SealedWindow window);

  /** The queue's counts may be shown until then, by {@link System#nanoTime}. */
  default void shownUntil(QueueId queue, long nanos) {}

  /**
   * This process no longer owns the queue: its series leave this sink. They are shown no more when
   * this returns.
   */
  void released(QueueId queue);
}
