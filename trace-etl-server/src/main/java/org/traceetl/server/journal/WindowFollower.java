package org.traceetl.server.journal;

import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** A sink that follows the journal: each queue's windows in order, from one thread at a time. */
public interface WindowFollower {
  /** A window that is kept. Must not block longer than its own memory work takes. */
  void window(SealedWindow window);

  /** This instance no longer owns the queue: its series leave this sink. */
  void released(QueueId queue);
}
