package org.traceetl.server.consume;

import java.time.Clock;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.log.LogThrottle;
import org.traceetl.server.window.SealedWindow;

/**
 * The thread that brings filled windows to the journal, in the order they come: copy out, append,
 * give the metrics back, have the offset committed. An offset is never committed before its window
 * is appended. A window that the journal refuses is tried again until it is taken; meanwhile the
 * queues' open windows go on growing.
 *
 * <p>The way in is bounded: of a queue at most one window and one release are under way.
 */
final class Sealer implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Sealer.class);
  private static final int CAPACITY = 4_096;
  private static final long FIRST_RETRY_MILLIS = 100;
  private static final long LAST_RETRY_MILLIS = 10_000;

  private sealed interface Task {}

  private record Seal(OwnedQueue queue, FilledWindow filled, Runnable kept) implements Task {}

  private record Release(OwnedQueue queue) implements Task {}

  private record Stop() implements Task {}

  private final BlockingQueue<Task> tasks = new ArrayBlockingQueue<>(CAPACITY);
  private final Journal journal;
  private final QueueOwners owners;
  private final PipelineListener listener;
  private final LogThrottle throttle;
  private volatile boolean closed;

  Sealer(Journal journal, QueueOwners owners, PipelineListener listener, Clock clock) {
    this.journal = journal;
    this.owners = owners;
    this.listener = listener;
    throttle = new LogThrottle(clock);
  }

  /**
   * Takes a window to the journal.
   *
   * @param kept run when the journal has it, before the queue's release. Must be quick
   */
  void seal(OwnedQueue queue, FilledWindow filled, Runnable kept) throws InterruptedException {
    tasks.put(new Seal(queue, filled, kept));
  }

  /** After the queue's windows under way, its followers are told and the next owner may begin. */
  void release(OwnedQueue queue) throws InterruptedException {
    tasks.put(new Release(queue));
  }

  /** Ends the thread after what is under way. */
  void finish() throws InterruptedException {
    tasks.put(new Stop());
  }

  /** Ends the thread as soon as the journal answers; windows under way are dropped. */
  void close() {
    closed = true;
  }

  @Override
  public void run() {
    try {
      boolean stopped = false;
      while (!stopped && !closed) {
        Task task = tasks.poll(LAST_RETRY_MILLIS, TimeUnit.MILLISECONDS);
        switch (task) {
          case null -> {}
          case Seal seal -> keep(seal);
          case Release release -> handOver(release.queue);
          case Stop() -> stopped = true;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      log.error("The sealer ended by an error: nothing is kept any more", e);
      throw e;
    }
  }

  private void keep(Seal task) throws InterruptedException {
    FilledWindow filled = task.filled;
    long startNanos = System.nanoTime();
    SealedWindow window = filled.seal();
    long sealedNanos = System.nanoTime();
    listener.sealed(filled.queue(), sealedNanos - startNanos);
    if (!append(window)) {
      return;
    }
    listener.appended(filled.queue(), System.nanoTime() - sealedNanos);
    filled.giveBack();
    task.queue.kept(filled.to());
    task.kept.run();
  }

  private boolean append(SealedWindow window) throws InterruptedException {
    long retryMillis = FIRST_RETRY_MILLIS;
    while (!closed) {
      try {
        journal.append(window).toCompletableFuture().get();
        return true;
      } catch (ExecutionException | RuntimeException e) {
        listener.appendFailed(window.queue());
        if (throttle.permits()) {
          log.error(
              "The journal did not take window [{}, {}) of queue {}; trying again",
              window.from(),
              window.to(),
              window.queue(),
              e);
        }
      }
      Thread.sleep(retryMillis);
      retryMillis = Math.min(retryMillis * 2, LAST_RETRY_MILLIS);
    }
    return false;
  }

  private void handOver(OwnedQueue queue) {
    try {
      journal.release(queue.id());
    } catch (RuntimeException e) {
      listener.failed();
      log.error("Release of queue {} failed", queue.id(), e);
    } finally {
      owners.release(queue.id(), queue.keptTo());
    }
  }
}
