package org.traceetl.server.journal;

import java.util.concurrent.Semaphore;

/**
 * A thread that runs only while another one waits for its step: so that a schedule is a sequence of
 * steps, the same each time.
 */
final class Task {
  /** What a task does. */
  @FunctionalInterface
  interface Body {
    void run() throws Exception;
  }

  /** Unwinds a task that is killed, past all that catches exceptions. */
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
      // As told.
    } catch (Throwable e) {
      failure = e;
    }
    ended = true;
    done.release();
  }

  /** Lets it run to its next pause. */
  void step() {
    if (!ended) {
      go.release();
      done.acquireUninterruptibly();
    }
    if (failure != null) {
      throw new AssertionError(failure);
    }
  }

  boolean ended() {
    return ended;
  }

  /** Called by the task itself: ends its step. */
  void pause() {
    done.release();
    go.acquireUninterruptibly();
    if (killed) {
      throw new Killed();
    }
  }

  /** Ends it where it stands, as kill -9 does. */
  void kill() {
    killed = true;
    step();
  }
}
