package org.traceetl.server.ozhera.delta.positions;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.window.QueueId;

/** Pauses calls to a broker after a failed one, and counts the failures. Thread-safe. */
public final class BrokerRetries {
  private static final Logger log = LoggerFactory.getLogger(BrokerRetries.class);
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(15);

  private final LongSupplier nanoClock;
  private final LogThrottle throttle;

  /** By broker: end of its pause. */
  private final Map<String, Long> retryNanos = new ConcurrentHashMap<>();

  private final LongAdder failures = new LongAdder();

  public BrokerRetries(LongSupplier nanoClock, LogThrottle throttle) {
    this.nanoClock = nanoClock;
    this.throttle = throttle;
  }

  /** Returns the nanoseconds until the queue's broker may be called; 0 or less for now. */
  public long dueInNanos(QueueId queue, long nowNanos) {
    Long retry = retryNanos.get(queue.broker());
    return retry == null ? 0 : retry - nowNanos;
  }

  public void succeeded(QueueId queue) {
    retryNanos.remove(queue.broker());
  }

  public void failed(QueueId queue, Exception e) {
    // The pause begins after the call, which may have taken long.
    retryNanos.put(queue.broker(), nanoClock.getAsLong() + PAUSE_NANOS);
    failures.increment();
    if (throttle.permits()) {
      log.warn(
          "Could not read or store the scrapers' positions in queue {}, trying again in {} s: {}",
          queue,
          TimeUnit.NANOSECONDS.toSeconds(PAUSE_NANOS),
          e.toString());
    }
  }

  /** Returns the number of failed calls. */
  public long failures() {
    return failures.sum();
  }
}
