package org.traceetl.server.journal.chain;

import java.util.concurrent.Semaphore;

/**
 * A thread that runs only while another thread waits for its step, so that a schedule is a
 * repeatable sequence of steps.
 */
final class Task {
  @FunctionalInterface
  interface Body {
    void run() throws Exception;
  }

  /** Unwinds a killed task; no handler of exceptions catches it. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1;

    Killed() {
      super(null, null, false, false);
    }
  }

  private final Semaphore go = new Semaphore(0);
  private final Semaphore done = new Semaphore(0);
  private boolean killed;
  private boolean ended;
  private Throwable failure;

  Task(Body body) {
    Thread.startVirtualThread(() -> run(body));
  }

  private void run(Body body) {
    go.acquireUninterruptibly();
    try {
      if (!killed) {
        body.run();
      }
    } catch (Killed e) {
      // The task was killed.
    } catch (Throwable e) {
      failure = e;
    }
    ended = true;
    done.release();
  }

  /** Runs the task to its next pause. */
  void step() {
    if (!ended) {
      go.release();
      done.acquireUninterruptibly();
    }
    if (failure != null) {
      throw new AssertionError(failure);
    }
  }

  /** Ends the step; called by the task itself. */
  void pause() {
    done.release();
    go.acquireUninterruptibly();
    if (killed) {
      throw new Killed();
    }
  }

  /** Ends the task at its current step, as kill -9 does. */
  void kill() {
    killed = true;
    step();
  }
}
