package org.traceetl.agent.reload;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.common.DutyCycle;
import org.traceetl.common.DutyThread;

/**
 * Has sources look at their files, each at its interval and all when it is asked to. What is wrong
 * is told and counted once, and tried again: the file may be half of a change whose rest is to
 * come, or of a certificate that is not valid yet.
 *
 * <p>By content, not by notifications: secrets are mounted as symbolic links that are swapped, in
 * directories that may be on any file system. One thread; none while there is nothing to look at.
 */
public final class Reloader implements DutyCycle, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Reloader.class);
  private static final int USUAL_INTERVAL_MILLIS = 5_000;

  /** What can be read anew. */
  @FunctionalInterface
  public interface Source {
    /**
     * Looks, and takes what has changed.
     *
     * @return true when something has changed and is in force now
     * @throws IOException when it has changed and is wrong: what was in force stays so
     */
    boolean reload() throws IOException;

    /**
     * The same.
     *
     * @param asked whether somebody asked for this look, who has finished writing
     */
    default boolean reload(boolean asked) throws IOException {
      return reload();
    }
  }

  /** A source; the problem is of the thread that looks. */
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

  private final AgentMetrics metrics;
  private final LongSupplier nanoClock;
  private final List<Watched> watched = new CopyOnWriteArrayList<>();
  private final AtomicBoolean asked = new AtomicBoolean();
  private final DutyThread thread;
  private boolean started;

  public Reloader(AgentMetrics metrics, LongSupplier nanoClock) {
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    thread = new DutyThread("reload", this, nanoClock);
  }

  /**
   * Adds a source, which is looked at every five seconds.
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
   * @param intervalMillis how often it is looked at
   */
  public synchronized void add(String what, int intervalMillis, Source source) {
    // There from the start, so that an increase is seen at the first change.
    metrics.reloads.labels(what, "applied");
    metrics.reloads.labels(what, "refused");
    watched.add(new Watched(what, intervalMillis, source, nanoClock.getAsLong()));
    startThread();
  }

  /** Begins to look, as soon as there is something to look at. */
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

  /** Asks for a look at once. From any thread. */
  public void request() {
    asked.set(true);
    thread.wake();
  }

  /** Looks at all sources, as if asked to. */
  void look() {
    watched.forEach(one -> look(one, true));
  }

  @Override
  public int doWork() {
    boolean all = asked.getAndSet(false);
    for (Watched one : watched) {
      if (all || nanoClock.getAsLong() - one.dueNanos >= 0) {
        look(one, all);
      }
    }
    return 0;
  }

  @Override
  public long idleNanos() {
    long nowNanos = nanoClock.getAsLong();
    return watched.stream().mapToLong(one -> one.dueNanos - nowNanos).min().orElse(0);
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
