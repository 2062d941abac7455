package org.traceetl.agent.reload;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * Reloads sources, each at its interval and all on request. A problem is logged and counted once,
 * and retried: the other part of a change may follow, or a certificate may become valid.
 *
 * <p>It polls instead of using file notifications: secrets are mounted as swapped symbolic links,
 * on any file system. It has one thread, or none while there are no sources.
 */
public final class Reloader implements SteppedTask, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Reloader.class);
  private static final int USUAL_INTERVAL_MILLIS = 5_000;

  /** An input that can be reloaded. */
  @FunctionalInterface
  public interface Source {
    /**
     * Reads the input and applies a change.
     *
     * @return true if a change is now in force
     * @throws IOException if the changed input is invalid; the previous one stays in force
     */
    boolean reload() throws IOException;

    /**
     * Reads the input and applies a change.
     *
     * @param asked whether this is a request, made after the input was completely written
     */
    default boolean reload(boolean asked) throws IOException {
      return reload();
    }
  }

  /** A source with its state, which is confined to the reading thread. */
  private static final class Watched {
    private final String what;
    private final long intervalNanos;
    private final Source source;
    private String problem = "";
    private long dueNanos;

    Watched(String what, int intervalMillis, Source source, long nowNanos) {
      this.what = what;
      this.intervalNanos = TimeUnit.MILLISECONDS.toNanos(intervalMillis);
      this.source = source;
      this.dueNanos = nowNanos + intervalNanos;
    }
  }

  private final ReloadMetrics metrics;
  private final LongSupplier nanoClock;
  private final List<Watched> watched = new CopyOnWriteArrayList<>();
  private final AtomicBoolean asked = new AtomicBoolean();
  private final SteppedThread thread;
  private boolean started;

  public Reloader(ReloadMetrics metrics, Clocks clocks) {
    this.metrics = metrics;
    nanoClock = clocks.nanoClock();
    thread = new SteppedThread(clocks, "reload", this, new LogThrottle(nanoClock));
  }

  /**
   * Adds a source that is read every five seconds.
   *
   * @param what it is, for the log and as a label: lower case with underscores
   */
  public void add(String what, Source source) {
    add(what, USUAL_INTERVAL_MILLIS, source);
  }

  /**
   * Adds a source.
   *
   * @param what it is, for the log and as a label: lower case with underscores
   * @param intervalMillis interval between two reads
   */
  public synchronized void add(String what, int intervalMillis, Source source) {
    // Registered at the start, so that the first change shows as an increase.
    metrics.reloads.labels(what, "applied");
    metrics.reloads.labels(what, "refused");
    watched.add(new Watched(what, intervalMillis, source, nanoClock.getAsLong()));
    startThread();
  }

  /** Starts the thread, once there is a source. */
  public synchronized void start() {
    started = true;
    startThread();
  }

  private void startThread() {
    if (started && !watched.isEmpty()) {
      thread.start();
      thread.wake();
    }
  }

  /** Requests a read of all sources at once. Safe for any thread. */
  public void request() {
    asked.set(true);
    thread.wake();
  }

  /** Reads all sources, as on request. */
  void look() {
    watched.forEach(one -> look(one, true));
  }

  @Override
  public long doWork() {
    boolean all = asked.getAndSet(false);
    for (Watched one : watched) {
      if (all || nanoClock.getAsLong() - one.dueNanos >= 0) {
        look(one, all);
      }
    }
    long nowNanos = nanoClock.getAsLong();
    return Math.max(0, watched.stream().mapToLong(one -> one.dueNanos - nowNanos).min().orElse(0));
  }

  private void look(Watched one, boolean asked) {
    one.dueNanos = nanoClock.getAsLong() + one.intervalNanos;
    String problem = "";
    try {
      if (one.source.reload(asked)) {
        metrics.reloads.labels(one.what, "applied").inc();
        log.info("Applied the change of {}", one.what);
      }
    } catch (IOException | RuntimeException e) {
      problem = String.valueOf(e.getMessage());
      if (!problem.equals(one.problem)) {
        metrics.reloads.labels(one.what, "refused").inc();
        log.warn(
            "Refused the change of {}; the previous version stays in force: {}", one.what, problem);
      }
    }
    one.problem = problem;
  }

  @Override
  public void close() {
    thread.close();
  }
}
