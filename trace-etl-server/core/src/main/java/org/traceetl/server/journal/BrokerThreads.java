package org.traceetl.server.journal;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * The readers of a sink: one thread per broker, created for the broker's first queue. A broker that
 * does not answer delays only its own queues. Thread-safe.
 *
 * @param <R> a reader: the task of one broker's thread
 */
public final class BrokerThreads<R extends SteppedTask> implements AutoCloseable {
  private record Running<R>(R reader, SteppedThread thread) {}

  private final String name;
  private final Function<String, R> newReader;
  private final LogThrottle throttle;
  private final Clocks clocks;

  /** By broker. Bounded by the number of brokers that ever existed. */
  private final Map<String, Running<R>> running = new TreeMap<>();

  private boolean started;
  private boolean closed;

  /**
   * Creates no thread until {@link #start}.
   *
   * @param name prefix of the threads' names
   * @param newReader creates the reader of a broker
   */
  public BrokerThreads(
      Clocks clocks, String name, Function<String, R> newReader, LogThrottle throttle) {
    this.clocks = clocks;
    this.name = name;
    this.newReader = newReader;
    this.throttle = throttle;
  }

  /** Starts the threads of all readers, including later ones. Call it once. */
  public synchronized void start() {
    started = true;
    running.values().forEach(one -> one.thread().start());
  }

  /** Returns the reader of a broker's queues. */
  public synchronized R of(String broker) {
    Running<R> known = running.get(broker);
    if (known != null) {
      return known.reader();
    }
    R reader = newReader.apply(broker);
    SteppedThread thread = SteppedThread.daemon(clocks, name + "-" + broker, reader, throttle);
    running.put(broker, new Running<>(reader, thread));
    if (started && !closed) {
      thread.start();
    }
    return reader;
  }

  /** Returns the current readers. */
  public synchronized List<R> all() {
    return running.values().stream().map(Running::reader).toList();
  }

  /** Wakes all readers: work may be due, or there may be room again. */
  public synchronized void wake() {
    running.values().forEach(one -> one.thread().wake());
  }

  /** Returns whether no thread has ended with an error. */
  public synchronized boolean alive() {
    return running.values().stream().allMatch(one -> one.thread().alive());
  }

  /** Ends the threads after their current steps. Idempotent. */
  @Override
  public void close() {
    List<Running<R>> ending;
    synchronized (this) {
      closed = true;
      ending = new ArrayList<>(running.values());
    }
    // In parallel: several may wait for brokers that do not answer.
    ending.forEach(one -> one.thread().finish());
    ending.forEach(one -> one.thread().close());
  }
}
