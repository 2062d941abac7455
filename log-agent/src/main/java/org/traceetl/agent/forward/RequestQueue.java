package org.traceetl.agent.forward;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests in memory, bounded in bytes. A request is charged until it is {@linkplain #settle
 * settled}. Any thread offers; one thread polls. No method blocks.
 */
final class RequestQueue {
  private final long maxBytes;
  private final Queue<QueuedRequest> requests = new ConcurrentLinkedQueue<>();
  private final AtomicLong bytes = new AtomicLong();

  RequestQueue(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Adds a request, unless the queue is full. A request above the limit is accepted alone. */
  boolean offer(QueuedRequest request) {
    long then = bytes.addAndGet(request.charge());
    if (then > maxBytes && then > request.charge()) {
      bytes.addAndGet(-request.charge());
      return false;
    }
    requests.add(request);
    return true;
  }

  /** Returns the oldest request, or null. */
  QueuedRequest poll() {
    return requests.poll();
  }

  /** Records that a polled request is on disk or dropped. */
  void settle(QueuedRequest request) {
    bytes.addAndGet(-request.charge());
  }

  /** Returns whether all requests are settled. */
  boolean isSettled() {
    return bytes.get() == 0;
  }
}
