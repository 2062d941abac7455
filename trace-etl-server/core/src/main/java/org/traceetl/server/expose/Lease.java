package org.traceetl.server.expose;

/**
 * The period in which a queue's series may be shown, on a clock like {@link System#nanoTime}. The
 * thread that owns the queue's journal extends and ends it; the fold thread and request threads
 * read it.
 */
public final class Lease {
  private final long fromNanos;
  private volatile long untilNanos;
  private volatile boolean ended;

  /** Whether the latest published page lacks the queue. Written by the fold thread. */
  private volatile boolean hidden = true;

  /**
   * Creates a lease that permits nothing until it is extended.
   *
   * @param fromNanos start of the period
   */
  public Lease(long fromNanos) {
    this.fromNanos = fromNanos;
    untilNanos = fromNanos;
  }

  /** Returns a lease without an end, for a queue that was never restored. */
  public static Lease untilReleased(long nowNanos) {
    Lease lease = new Lease(nowNanos);
    lease.extend(nowNanos + Long.MAX_VALUE);
    return lease;
  }

  /** Returns whether the queue may be shown. */
  public boolean permits(long nowNanos) {
    return !ended && covers(nowNanos);
  }

  /**
   * Returns whether the time is within the period, even after the end of the lease: no other owner
   * shows the queue at that time.
   */
  public boolean covers(long nowNanos) {
    return nowNanos - fromNanos >= 0 && untilNanos - nowNanos > 0;
  }

  /** Returns the nanoseconds until the period starts; 0 or less after the start. */
  public long startsInNanos(long nowNanos) {
    return fromNanos - nowNanos;
  }

  public boolean hidden() {
    return hidden;
  }

  /**
   * Extends the lease.
   *
   * @return whether a page must be published to show the queue. This method extends the lease
   *     before it reads whether the page lacks the queue, and {@link #show} marks the page before
   *     it reads the lease. So at least one of two concurrent calls detects the other.
   */
  public boolean extend(long untilNanos) {
    this.untilNanos = untilNanos;
    return hidden;
  }

  /** Decides whether the page that is being rendered shows the queue. */
  public boolean show(long nowNanos) {
    hidden = true;
    boolean show = permits(nowNanos);
    hidden = !show;
    return show;
  }

  public boolean ended() {
    return ended;
  }

  /** Ends the lease, which permits nothing from now on. */
  public void end() {
    ended = true;
  }
}
