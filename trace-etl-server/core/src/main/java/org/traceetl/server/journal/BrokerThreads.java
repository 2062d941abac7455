package org.traceetl.server.journal;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.component.SteppedTask;
import org.traceetl.server.component.SteppedThread;

/**
 * A sink's readers: a thread for each broker, made when its first queue comes. A broker that does
 * not answer holds up the thread of its own queues, and no other broker's. Thread-safe.
 *
 * @param <R> a reader: what one broker's thread does
 */
public final class BrokerThreads<R extends SteppedTask> implements AutoCloseable {
  private record Running<R>(R reader, SteppedThread thread) {}

  private final String name;
  private final Function<String, R> newReader;
  private final LogThrottle throttle;

  /** By broker. Bounded by the brokers that there ever were. */
  private final Map<String, Running<R>> running = new TreeMap<>();

  private boolean started;
  private boolean closed;

  /**
   * Readers whose threads are not started.
   *
   * @param name what the threads' names begin with
   * @param newReader makes the reader of a broker
   */
  public BrokerThreads(String name, Function<String, R> newReader, LogThrottle throttle) {
    this.name = name;
    this.newReader = newReader;
    this.throttle = throttle;
  }

  /** Starts the threads of these readers, and of those that are made later. Once. */
  public synchronized void start() {
    started = true;
    running.values().forEach(one -> one.thread().start());
  }

  /** The reader of a broker's queues. */
  public synchronized R of(String broker) {
    Running<R> known = running.get(broker);
    if (known != null) {
      return known.reader();
    }
    R reader = newReader.apply(broker);
    SteppedThread thread = new SteppedThread(name + "-" + broker, reader, throttle);
    running.put(broker, new Running<>(reader, thread));
    if (started && !closed) {
      thread.start();
    }
    return reader;
  }

  /** Those that there are now. */
  public synchronized List<R> all() {
    return running.values().stream().map(Running::reader).toList();
  }

  /** Ends the rests of all: something may be due, or there may be room again. */
  public synchronized void wake() {
    running.values().forEach(one -> one.thread().wake());
  }

  /** Whether no thread has ended by an error. */
  public synchronized boolean alive() {
    return running.values().stream().allMatch(one -> one.thread().alive());
  }

  /** Ends the threads after the steps under way. Idempotent. */
  @Override
  public void close() {
    List<Running<R>> ending;
    synchronized (this) {
      closed = true;
      ending = new ArrayList<>(running.values());
    }
    // All at once: several may wait for brokers that do not answer.
    ending.forEach(one -> one.thread().finish());
    ending.forEach(one -> one.thread().close());
  }
}
