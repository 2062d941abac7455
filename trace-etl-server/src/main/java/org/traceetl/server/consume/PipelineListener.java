package org.traceetl.server.consume;

import org.traceetl.proto.Rejection;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.QueueId;

/**
 * Hears what the pipeline does, per batch and per window, never per span. Called by the threads
 * that do it: must be quick, thread-safe, and not throw.
 */
public interface PipelineListener {
  /** Hears nothing. */
  PipelineListener NONE = new PipelineListener() {};

  /** A batch that counts. */
  default void accepted(int bytes) {}

  /** A batch that was seen before. */
  default void duplicate(int bytes) {}

  /**
   * So many agents of a queue were forgotten to make room for others: a repeat from them counts.
   */
  default void agentsEvicted(QueueId queue, long agents) {}

  /** A batch that was refused. */
  default void rejected(int bytes, Rejection reason) {}

  /** Events of a batch's spans: counted in series of their own, in overflow series, left out. */
  default void events(int recorded, int overflowed, int filtered) {}

  /** Patterns were not tried on so many names of a batch: it had too many. */
  default void namesUnmatched(int names) {}

  /** A window was swapped out: for so long the queue's worker recorded nothing. */
  default void swapped(QueueId queue, long pauseNanos) {}

  /** A worker ended the windows of all its queues: for so long it recorded nothing. */
  default void paused(long nanos) {}

  /** A window was due, but its predecessor is still with the journal: it goes on growing. */
  default void swapDeferred(QueueId queue) {}

  /** So many series gave their place to keys with more spans. */
  default void displaced(QueueId queue, int series) {}

  /** An application is near or at a limit. */
  default void crowded(QueueId queue, Cardinality cardinality) {}

  /** A window was copied out of its double buffer. */
  default void sealed(QueueId queue, long nanos) {}

  /** The journal has a window. */
  default void appended(QueueId queue, long nanos) {}

  /** The journal did not take a window; it is tried again. */
  default void appendFailed(QueueId queue) {}

  /** A queue was taken over: its state was read, and it was claimed. */
  default void taken(QueueId queue, long nanos) {}

  /** A queue could not be taken over; it is tried again. */
  default void takeFailed(QueueId queue) {}

  /** Another owner has claimed a queue: what was not kept is dropped here. */
  default void fenced(QueueId queue) {}

  /** It was not found out whether a queue is still this process's; it is tried again. */
  default void renewFailed(QueueId queue) {}

  /** A queue's state was written down. */
  default void snapshotWritten(QueueId queue, long nanos) {}

  /** A queue's state was not written down; it is tried again. */
  default void snapshotFailed(QueueId queue) {}

  /** An offset was not committed; the next window's commit makes up for it. */
  default void commitFailed(QueueId queue) {}

  /** The broker no longer has these messages: they were never read. */
  default void skipped(QueueId queue, long messages) {}

  /**
   * The broker no longer has these messages, which were read: it lost them, or the topic was made
   * again. What it has at their offsets is read.
   */
  default void replaced(QueueId queue, long messages) {}

  /** Messages came out of order; they are pulled again. */
  default void outOfOrder(QueueId queue) {}

  /** Something failed that should not; the worker went on. */
  default void failed() {}
}
