package org.traceetl.server.features.preview;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import org.traceetl.common.Threads;
import org.traceetl.server.http.Caller;

/**
 * Runs previews for callers, one at a time, each on a thread of its own. A preview stops if its
 * caller is gone or the server stops.
 *
 * <p>Concurrency: callers call {@link #tryBegin} and the one method that ends the turn; any thread
 * may close it.
 */
final class PreviewRuns implements AutoCloseable {
  /** Interval of looks whether the caller is waiting. */
  private static final Duration LOOK = Duration.ofMillis(500);

  private final Threads threads;
  private final Semaphore turn = new Semaphore(1);
  private volatile FutureTask<RulesComparison> running;
  private volatile boolean isClosed;

  PreviewRuns(Threads threads) {
    this.threads = threads;
  }

  /** Begins a caller's turn, which {@link #run} or {@link #giveUp} ends; false if there is one. */
  boolean tryBegin() {
    return turn.tryAcquire();
  }

  /** Ends a turn without a preview. */
  void giveUp() {
    turn.release();
  }

  /**
   * Runs a preview, and ends the turn when its thread has ended.
   *
   * @return null if the caller is gone
   * @throws CancellationException if the server stops
   * @throws ExecutionException if the preview failed
   */
  RulesComparison run(Callable<RulesComparison> preview, Caller caller)
      throws ExecutionException, InterruptedException {
    FutureTask<RulesComparison> task = new FutureTask<>(preview);
    boolean isStarted = false;
    try {
      Thread thread = threads.create(Threads.Kind.DAEMON, "trace-preview", () -> work(task));
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
        turn.release();
      }
    }
  }

  private void work(FutureTask<RulesComparison> task) {
    try {
      task.run();
    } finally {
      running = null;
      turn.release();
    }
  }

  /** Stops the preview, and all later ones. Idempotent. */
  @Override
  public void close() {
    isClosed = true;
    FutureTask<RulesComparison> task = running;
    if (task != null) {
      task.cancel(true);
    }
  }
}
