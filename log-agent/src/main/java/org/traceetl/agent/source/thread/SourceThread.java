package org.traceetl.agent.source.thread;

/**
 * The thread of a source that looks for new spans itself. It is started once at most, and not after
 * its end. All may be called by any thread.
 */
public final class SourceThread {
  private final Thread thread;
  private volatile boolean reading = true;
  private volatile boolean ended;

  /**
   * @param work that returns soon after {@link #isEnded} is true
   */
  public SourceThread(String name, Runnable work) {
    this.thread = Thread.ofPlatform().name(name).unstarted(work);
  }

  /** Starts it, if it was not and is to be. */
  public synchronized void start() {
    if (!ended && thread.getState() == Thread.State.NEW) {
      thread.start();
    }
  }

  /** Whether anything new is to be read. */
  public boolean isReading() {
    return reading;
  }

  /** Nothing new is to be read; the thread goes on with what is under way. */
  public void stopReading() {
    reading = false;
  }

  /** Whether it is to end. */
  public boolean isEnded() {
    return ended;
  }

  /**
   * Ends it, and waits until it has.
   *
   * @param wake ends what it may be waiting for
   */
  public void end(Runnable wake) {
    reading = false;
    synchronized (this) {
      ended = true;
    }
    wake.run();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Itself, to be unparked. */
  public Thread thread() {
    return thread;
  }
}
