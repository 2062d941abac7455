package org.traceetl.server.features.push;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.consume.ownership.RetrySchedule;

/**
 * Sends the requests of one shard in order, one at a time, until each has a final answer.
 *
 * <p>Concurrency: {@link #add} and {@link #wake} may be called by any thread; the rest is confined
 * to its thread.
 */
final class ShardSender implements SteppedTask {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LAST_PAUSE = Duration.ofSeconds(30);

  private final EndpointState endpoint;
  private final WriteTransport transport;
  private final LongSupplier nanoClock;
  private final SteppedThread thread;
  private final RequestEncoder encoder;
  private final RetrySchedule retries = new RetrySchedule(FIRST_PAUSE, LAST_PAUSE);

  /** Bounded by what each queue may have without answers. */
  private final Queue<WriteRequest> waiting = new ConcurrentLinkedQueue<>();

  // Confined to the thread.
  private WriteRequest current;

  /** Parts of the current request that have no final answer, the first one on top. */
  private final Deque<Part> parts = new ArrayDeque<>();

  private long notBeforeNanos;
  private boolean waits;

  /** Entries [from, to) of the current request. */
  private record Part(int from, int to) {}

  ShardSender(
      String name,
      EndpointState endpoint,
      RequestEncoder encoder,
      WriteTransport transport,
      Clocks clocks) {
    this.endpoint = endpoint;
    this.transport = transport;
    nanoClock = clocks.nanoClock();
    this.encoder = encoder;
    thread = SteppedThread.daemon(clocks, name, this, new LogThrottle(clocks.wall()));
  }

  /** Adds a request after all earlier ones. */
  void add(WriteRequest request) {
    waiting.add(request);
    thread.wake();
  }

  void wake() {
    thread.wake();
  }

  SteppedThread thread() {
    return thread;
  }

  @Override
  public long doWork() throws InterruptedException {
    if (current == null) {
      current = waiting.poll();
      if (current == null) {
        return UNTIL_WOKEN;
      }
      parts.push(new Part(0, current.size()));
    }
    if (current.isAbandoned()) {
      parts.clear();
      remove().dropped();
      return 0;
    }
    long leftNanos = leftNanos();
    if (leftNanos > 0) {
      return leftNanos;
    }
    if (send(parts.element()) && parts.isEmpty()) {
      remove().answered();
    }
    return 0;
  }

  private WriteRequest remove() {
    WriteRequest done = current;
    current = null;
    return done;
  }

  private long leftNanos() {
    long nowNanos = nanoClock.getAsLong();
    return waits ? Math.max(retries.leftNanos(nowNanos), notBeforeNanos - nowNanos) : 0;
  }

  /**
   * Sends a part and handles the answer.
   *
   * @return false if it must be sent again
   */
  private boolean send(Part part) throws InterruptedException {
    Protocol protocol = endpoint.protocol();
    if (!encoder.encode(current, part.from(), part.to(), protocol)) {
      halve(part);
      return true;
    }
    WriteTransport.Answer answer;
    try {
      answer = transport.send(protocol, encoder.body(), encoder.length());
    } catch (IOException e) {
      endpoint.failed(e);
      pause(0);
      return false;
    }
    endpoint.sent(answer.status(), encoder.length());
    int samples = current.samples(part.from(), part.to());
    return switch (endpoint.judge(protocol, answer, part.to() - part.from())) {
      case WRITTEN -> {
        endpoint.written(samples, protocol, answer);
        yield finish();
      }
      case REFUSED -> {
        endpoint.refused(samples, protocol, answer);
        yield finish();
      }
      case HALVE -> {
        halve(part);
        endpoint.retried();
        waits = false;
        yield true;
      }
      case OTHER_VERSION -> {
        endpoint.retried();
        yield false;
      }
      case AGAIN -> {
        endpoint.away(answer);
        pause(answer.retryAfterMillis());
        yield false;
      }
    };
  }

  private void halve(Part part) {
    int middle = (part.from() + part.to()) >>> 1;
    parts.pop();
    parts.push(new Part(middle, part.to()));
    parts.push(new Part(part.from(), middle));
  }

  private boolean finish() {
    parts.pop();
    retries.succeeded();
    waits = false;
    return true;
  }

  private void pause(long leastMillis) {
    endpoint.retried();
    long nowNanos = nanoClock.getAsLong();
    retries.failed(nowNanos);
    notBeforeNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(leastMillis);
    waits = true;
  }
}
