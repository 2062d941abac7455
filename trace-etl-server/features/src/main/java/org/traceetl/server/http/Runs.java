package org.traceetl.server.http;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
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

  /** Places of callers: the first one has the turn, and the others wait for it in this order. */
  private final SequencedSet<Object> places = new LinkedHashSet<>();

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
    synchronized (places) {
      return places.isEmpty() && places.add(this);
    }
  }

  /**
   * Begins a caller's turn as {@link #tryBegin()}, but waits for callers of other places that came
   * before.
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
        hasTurn = awaitTurn(from);
      } while (!hasTurn && caller.isWaiting());
      return hasTurn;
    } finally {
      if (!hasTurn) {
        leave(from);
      }
    }
  }

  private boolean awaitTurn(Object from) throws InterruptedException {
    synchronized (places) {
      if (!places.getFirst().equals(from)) {
        places.wait(LOOK.toMillis());
      }
      return places.getFirst().equals(from);
    }
  }

  private void leave(Object from) {
    synchronized (places) {
      places.remove(from);
      places.notifyAll();
    }
  }

  /** Ends a turn without an answer. */
  public void giveUp() {
    synchronized (places) {
      leave(places.getFirst());
    }
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
