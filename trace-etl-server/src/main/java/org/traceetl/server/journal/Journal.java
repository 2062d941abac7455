package org.traceetl.server.journal;

import java.util.concurrent.CompletionStage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Where sealed windows become true. A window's counts are seen by nobody, and its offsets are
 * committed by nobody, before {@link #append} has completed.
 */
public interface Journal {
  /**
   * Appends a window. Completes when it is kept; fails when it is not, and then it does not count.
   */
  CompletionStage<Void> append(SealedWindow window);

  /**
   * This instance no longer owns the queue. Its followers are told after the last window appended.
   */
  void release(QueueId queue);
}
