package org.traceetl.server.ozhera.delta;

import java.io.IOException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.ozhera.delta.positions.BrokerRetries;
import org.traceetl.server.ozhera.delta.positions.ScraperPositions;

/**
 * Stores the scrapers' positions at the brokers, on a thread of its own. Only the newest position
 * of a scraper in a queue waits, so scrapers and queues bound the memory.
 *
 * <p>A position is stored only while no other owner can have continued with the queue: a later
 * store would move the scraper back.
 */
final class PositionWriter implements SteppedTask, AutoCloseable {
  /**
   * RocketMQ 5.5 creates the table of a group at its first commit, and may lose that commit. The
   * second attempt finds the table.
   */
  private static final int STORE_ATTEMPTS = 3;

  private record Key(QueueDeltas queue, ScraperSession scraper) {}

  private final ScraperPositions positions;
  private final BrokerRetries retries;
  private final LongSupplier nanoClock;
  private final SteppedThread thread;

  // Guarded by this lock, which is never held during a call to a broker.
  private final Object lock = new Object();
  private final Map<Key, Long> waiting = new LinkedHashMap<>();
  private final Map<QueueDeltas, CompletableFuture<Void>> flushes = new HashMap<>();

  PositionWriter(
      ScraperPositions positions, BrokerRetries retries, Clocks clocks, LogThrottle throttle) {
    this.positions = positions;
    this.retries = retries;
    nanoClock = clocks.nanoClock();
    thread = SteppedThread.daemon(clocks, "scraper-places", this, throttle);
  }

  void start() {
    thread.start();
  }

  boolean alive() {
    return thread.alive();
  }

  /** Queues a position, in place of an older one that still waits. */
  void store(QueueDeltas queue, ScraperSession scraper, long offset) {
    synchronized (lock) {
      waiting.put(new Key(queue, scraper), offset);
    }
    thread.wake();
  }

  /**
   * Completes the release of a queue once its positions are stored; does nothing before the release
   * and while the last bytes of an answer are written. Called by the fold thread.
   */
  void flushIfSettled(QueueDeltas queue) {
    if (queue.released == null || queue.committed > 0) {
      return;
    }
    synchronized (lock) {
      flushes.put(queue, queue.released);
    }
    thread.wake();
  }

  /** Returns whether a position of the queue waits to be stored. */
  boolean isWaiting(QueueDeltas queue) {
    synchronized (lock) {
      return waiting.keySet().stream().anyMatch(key -> key.queue() == queue);
    }
  }

  @Override
  public void close() {
    thread.close();
  }

  /** Stores all positions that wait; returns the nanoseconds until the next attempt. */
  @Override
  public long doWork() throws InterruptedException {
    List<Key> keys;
    synchronized (lock) {
      keys = List.copyOf(waiting.keySet());
    }
    for (Key key : keys) {
      storeReleased();
      store(key);
    }
    storeReleased();
    return IDLE_NANOS;
  }

  @Override
  public void onEnd() throws InterruptedException {
    doWork();
  }

  /** Queues whose next owner waits come first. */
  private void storeReleased() throws InterruptedException {
    List<Key> released;
    synchronized (lock) {
      released =
          flushes.isEmpty()
              ? List.of()
              : waiting.keySet().stream().filter(key -> flushes.containsKey(key.queue())).toList();
    }
    for (Key key : released) {
      store(key);
    }
    synchronized (lock) {
      Iterator<Map.Entry<QueueDeltas, CompletableFuture<Void>>> i = flushes.entrySet().iterator();
      while (i.hasNext()) {
        Map.Entry<QueueDeltas, CompletableFuture<Void>> flush = i.next();
        if (!isWaiting(flush.getKey())) {
          i.remove();
          flush.getValue().complete(null);
        }
      }
    }
  }

  private void store(Key key) throws InterruptedException {
    QueueDeltas queue = key.queue();
    long offset;
    synchronized (lock) {
      Long newest = waiting.get(key);
      long nowNanos = nanoClock.getAsLong();
      boolean covered = queue.lease().covers(nowNanos);
      if (queue.left() || (queue.lease().ended() && !covered)) {
        waiting.remove(key);
        return;
      }
      if (newest == null || !covered || retries.dueInNanos(queue.queue(), nowNanos) > 0) {
        return;
      }
      offset = newest;
    }
    try {
      storeAndVerify(queue, key.scraper(), offset);
      retries.succeeded(queue.queue());
      synchronized (lock) {
        waiting.remove(key, offset);
      }
    } catch (IOException | RuntimeException e) {
      // The other positions must still be stored.
      retries.failed(queue.queue(), e);
    }
  }

  /**
   * Stores a position and reads it back, because a broker may acknowledge a position and lose it:
   * when two servers store a new group's first position at the same time, RocketMQ 5.5 replaces the
   * table of the first by that of the second. A lost position would make the scraper a new one to
   * the queue's next owner: it would miss the windows that this owner has not delivered.
   */
  private void storeAndVerify(QueueDeltas queue, ScraperSession scraper, long offset)
      throws IOException, InterruptedException {
    for (int attempt = 1; attempt <= STORE_ATTEMPTS; attempt++) {
      positions.store(queue.queue(), scraper.group(), offset);
      if (positions.load(queue.queue(), scraper.group()) == offset) {
        return;
      }
    }
    throw new IOException(
        "the broker does not keep offset " + offset + " of group " + scraper.group());
  }
}
