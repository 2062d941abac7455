package org.traceetl.server.expose;

/**
 * When a queue's series may be shown, by a clock like {@link System#nanoTime}. Extended and ended
 * by the thread that owns the queue's journal; looked at by the fold thread and by those that
 * serve.
 */
public final class Lease {
  private final long fromNanos;
  private volatile long untilNanos;
  private volatile boolean ended;

  /** Whether the page published last is without the queue. Written by the fold thread. */
  private volatile boolean hidden = true;

  /**
   * A lease that permits nothing until it is extended.
   *
   * @param fromNanos before it permits nothing either
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

  /** Whether the queue may be shown. */
  public boolean permits(long nowNanos) {
    return !ended && covers(nowNanos);
  }

  /** The same, whether ended or not: no other owner shows the queue at that time. */
  public boolean covers(long nowNanos) {
    return nowNanos - fromNanos >= 0 && untilNanos - nowNanos > 0;
  }

  /** Nanoseconds until it may permit something; 0 or less if that time has come. */
  public long startsInNanos(long nowNanos) {
    return fromNanos - nowNanos;
  }

  public boolean hidden() {
    return hidden;
  }

  /**
   * Extends it.
   *
   * @return whether a page has to be published for the queue to show. The page is looked for after
   *     the lease was extended, and {@link #show} looks at the lease after it has hidden the page:
   *     so one of the two sees the other.
   */
  public boolean extend(long untilNanos) {
    this.untilNanos = untilNanos;
    return hidden;
  }

  /** Whether the page that is being made shows the queue. */
  public boolean show(long nowNanos) {
    hidden = true;
    boolean show = permits(nowNanos);
    hidden = !show;
    return show;
  }

  public boolean ended() {
    return ended;
  }

  /** Permits nothing from here on. */
  public void end() {
    ended = true;
  }
}
