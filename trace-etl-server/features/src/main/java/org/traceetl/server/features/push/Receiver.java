package org.traceetl.server.features.push;

import org.traceetl.server.component.Background;
import org.traceetl.server.window.QueueId;

/** An endpoint that receives samples. */
interface Receiver extends Background {
  /** Returns its name in the configuration: part of the name of its consumer group. */
  String name();

  /** Returns whether samples count the spans since the last pane end, not those of all time. */
  boolean isDelta();

  /**
   * Returns a new writer of a queue's samples. Close the queue's earlier writer first. Never waits.
   *
   * @param progress called by any thread after an answer: there may be room, and {@link
   *     SampleWriter#answered} may have changed
   */
  SampleWriter open(QueueId queue, Runnable progress);
}
