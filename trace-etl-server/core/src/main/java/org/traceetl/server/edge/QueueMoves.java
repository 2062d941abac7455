package org.traceetl.server.edge;

import java.util.concurrent.TimeUnit;
import org.traceetl.proto.EdgeKey;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.EdgeSlots;
import org.traceetl.server.window.QueueId;

/**
 * Determines which halves may be in another queue than their other halves, because agents sent them
 * by different lists of queues. Immutable.
 */
public final class QueueMoves {
  /** No list is known, so no half has moved. */
  public static final QueueMoves NONE =
      new QueueMoves(new EdgeSlots(EdgeQueues.NONE), new long[EdgeKey.SLOTS]);

  /**
   * In addition to the waiting time: how long after a change agents may follow the earlier list. A
   * longer time would count more callers of services without spans as moved.
   */
  static final long FOLLOWED_MILLIS = TimeUnit.MINUTES.toMillis(2);

  /** The newest list that has queues. */
  private final EdgeSlots slots;

  /** By slot: when it came to its queue, milliseconds since 1970; 0 if it was always there. */
  private final long[] movedMillis;

  /** The halves of one queue. */
  public static final class OfQueue {
    /** Of a queue that the list does not have. */
    private static final OfQueue NONE = new OfQueue(null);

    /**
     * By slot: halves that were accepted before may have moved, milliseconds since 1970. Null if no
     * half has.
     */
    private final long[] untilMillis;

    private OfQueue(long[] untilMillis) {
      this.untilMillis = untilMillis;
    }

    /**
     * Returns whether the other half may be in another queue.
     *
     * @param key from {@link EdgeKey#key}
     * @param committedMillis when the agent accepted the half's span, milliseconds since 1970
     */
    public boolean isMoved(long key, long committedMillis) {
      return untilMillis != null && committedMillis < untilMillis[EdgeKey.slot(key)];
    }
  }

  private QueueMoves(EdgeSlots slots, long[] movedMillis) {
    this.slots = slots;
    this.movedMillis = movedMillis;
  }

  /** Returns the moves after a newer list. An empty one moves nothing: agents send no halves. */
  public QueueMoves after(EdgeQueues list) {
    if (list.brokers().isEmpty()) {
      return this;
    }
    EdgeSlots next = new EdgeSlots(list);
    long[] moved = movedMillis.clone();
    for (int slot = 0; slot < moved.length && slots.queues() > 0; slot++) {
      if (!queue(next, slot).equals(queue(slots, slot))) {
        moved[slot] = list.decidedMillis();
      }
    }
    return new QueueMoves(next, moved);
  }

  /**
   * Returns the moves that concern one queue.
   *
   * @param waitMillis how long halves wait
   */
  public OfQueue of(QueueId queue, long waitMillis) {
    long[] untilMillis = new long[EdgeKey.SLOTS];
    boolean isListed = false;
    for (int slot = 0; slot < untilMillis.length && slots.queues() > 0; slot++) {
      boolean isHere = queue(slots, slot).equals(queue);
      isListed |= isHere;
      if (!isHere) {
        // The agent followed an earlier list.
        untilMillis[slot] = Long.MAX_VALUE;
      } else if (movedMillis[slot] > 0) {
        untilMillis[slot] = movedMillis[slot] + waitMillis + FOLLOWED_MILLIS;
      }
    }
    // Another list than this one has the queue, and may be newer.
    return isListed ? new OfQueue(untilMillis) : OfQueue.NONE;
  }

  private static QueueId queue(EdgeSlots slots, int slot) {
    int place = slots.place(slot);
    return new QueueId(slots.broker(place), slots.number(place));
  }
}
