package org.traceetl.server.consume;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.traceetl.server.window.QueueId;

/**
 * Which worker of this process owns which queue. RocketMQ tells a queue's new owner and its old one
 * at different times; here the new one waits until the old one's last window is kept, so that
 * within a process nothing is read twice and sinks hear of the release before they hear of the new
 * owner. Thread-safe.
 */
final class QueueOwners {
  private static final Object NOBODY = new Object();

  private record Ownership(Object owner, long keptTo) {}

  private final ConcurrentMap<QueueId, Ownership> ownerships = new ConcurrentHashMap<>();

  /** Makes the caller the queue's owner, unless another one is. */
  boolean acquire(QueueId queue, Object owner) {
    Ownership now =
        ownerships.compute(
            queue,
            (id, before) ->
                before == null || before.owner == NOBODY
                    ? new Ownership(owner, before == null ? -1 : before.keptTo)
                    : before);
    return now.owner == owner;
  }

  /** Offset to which a former owner in this process got its windows kept, or -1. */
  long keptTo(QueueId queue) {
    return ownerships.get(queue).keptTo;
  }

  /** Ends the ownership. */
  void release(QueueId queue, long keptTo) {
    ownerships.compute(queue, (id, now) -> new Ownership(NOBODY, Math.max(now.keptTo, keptTo)));
  }
}
