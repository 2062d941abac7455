package org.traceetl.server.http;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.traceetl.common.Threads;

/**
 * Computes answers that take long, one at a time, each on a thread of its own. It stops if the
 * caller is gone or the server stops. Callers of different places wait for each other, so that none
 * learns from a refusal that another one asks; two callers of one place do not.
 *
 * <p>Concurrency: callers call {@link #tryBegin} and the one method that ends the turn; any thread
 * may close it.
 *
 * @param <T> the answer
 */
public final class Runs<T> implements AutoCloseable {
  /** Interval of looks whether the caller is waiting. */
  private static final Duration LOOK = Duration.ofMillis(500);

  /** Maximum number of callers that have a turn or wait for one. */
  private static final int MAX_PLACES = 16;

  private final Threads threads;
  private final String name;
  private final Semaphore turn = new Semaphore(1, true);

  /** Places of callers that have a turn or wait for one. */
  private final Set<Object> places = new HashSet<>();

  /** The place of the caller whose turn it is. */
  private volatile Object place;

  private volatile FutureTask<T> running;
  private volatile boolean isClosed;

  /**
   * @param name of the thread
   */
  public Runs(Threads threads, String name) {
    this.threads = threads;
    this.name = name;
  }

  /** Begins a caller's turn, which {@link #run} or {@link #giveUp} ends; false if there is one. */
  public boolean tryBegin() {
    return turn.tryAcquire();
  }

  /**
   * Begins a caller's turn as {@link #tryBegin()}, but waits for callers of other places.
   *
   * @param from place of the caller
   * @return false if another caller of the place has a turn or waits, if {@value #MAX_PLACES} do,
   *     or if the caller is gone
   */
  public boolean tryBegin(Object from, Caller caller) throws InterruptedException {
    synchronized (places) {
      if (places.size() == MAX_PLACES || !places.add(from)) {
        return false;
      }
    }
    boolean hasTurn = false;
    try {
      do {
        hasTurn = turn.tryAcquire(LOOK.toMillis(), TimeUnit.MILLISECONDS);
      } while (!hasTurn && caller.isWaiting());
      if (hasTurn) {
        place = from;
      }
      return hasTurn;
    } finally {
      if (!hasTurn) {
        leave(from);
      }
    }
  }

  private void leave(Object from) {
    synchronized (places) {
      places.remove(from);
    }
  }

  /** Ends a turn without an answer. */
  public void giveUp() {
    Object from = place;
    place = null;
    if (from != null) {
      leave(from);
    }
    turn.release();
  }

  /**
   * Computes an answer, and ends the turn when its thread has ended.
   *
   * @return null if the caller is gone
   * @throws CancellationException if the server stops
   * @throws ExecutionException if the computation failed
   */
  public T run(Callable<T> answer, Caller caller) throws ExecutionException, InterruptedException {
    FutureTask<T> task = new FutureTask<>(answer);
    boolean isStarted = false;
    try {
      Thread thread = threads.create(Threads.Kind.DAEMON, name, () -> work(task));
      running = task;
      if (isClosed) {
        task.cancel(true);
      }
      thread.start();
      isStarted = true;
      while (!threads.join(thread, LOOK)) {
        if (!caller.isWaiting()) {
          return null;
        }
      }
      return task.get();
    } finally {
      task.cancel(true);
      if (!isStarted) {
        giveUp();
      }
    }
  }

  private void work(FutureTask<T> task) {
    try {
      task.run();
    } finally {
      running = null;
      giveUp();
    }
  }

  /** Stops the computation, and all later ones. Idempotent. */
  @Override
  public void close() {
    isClosed = true;
    FutureTask<T> task = running;
    if (task != null) {
      task.cancel(true);
    }
  }
}
