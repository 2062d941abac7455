package org.traceetl.agent.reload;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.telemetry.AgentMetrics;

/**
 * Has sources look at their files, every five seconds and when it is asked to. What is wrong is
 * told and counted once, and tried again: the file may be half of a change whose rest is to come,
 * or of a certificate that is not valid yet.
 *
 * <p>By content, not by notifications: secrets are mounted as symbolic links that are swapped, in
 * directories that may be on any file system. One thread; none while there is nothing to look at.
 */
public final class Reloader implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Reloader.class);
  private static final long LOOK_SECONDS = 5;

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
  }

  private record Watched(String what, Source source) {}

  private final AgentMetrics metrics;
  private final List<Watched> watched = new ArrayList<>();
  // By the order of the watched: what was wrong at the last look, or empty.
  private final List<String> problems = new ArrayList<>();
  private final Semaphore asked = new Semaphore(0);
  private final Thread thread = Thread.ofPlatform().name("reload").unstarted(this::run);
  private volatile boolean stopped;

  public Reloader(AgentMetrics metrics) {
    this.metrics = metrics;
  }

  /**
   * Adds a source. Only before the start.
   *
   * @param what it is, for the log and as a label: lower case with underscores
   */
  public void add(String what, Source source) {
    watched.add(new Watched(what, source));
    problems.add("");
    // There from the start, so that an increase is seen at the first change.
    metrics.reloads.labels(what, "applied");
    metrics.reloads.labels(what, "refused");
  }

  public void start() {
    if (!watched.isEmpty()) {
      thread.start();
    }
  }

  /** Asks for a look at once. From any thread. */
  public void request() {
    asked.release();
  }

  /** Looks at all sources. */
  void look() {
    for (int i = 0; i < watched.size(); i++) {
      problems.set(i, look(watched.get(i), problems.get(i)));
    }
  }

  private String look(Watched one, String lastProblem) {
    try {
      if (one.source.reload()) {
        metrics.reloads.labels(one.what, "applied").inc();
        log.info("{} has changed and is in force", one.what);
      }
      return "";
    } catch (IOException | RuntimeException e) {
      String problem = String.valueOf(e.getMessage());
      if (!problem.equals(lastProblem)) {
        metrics.reloads.labels(one.what, "refused").inc();
        log.warn("{} has changed and is refused, what was in force stays: {}", one.what, problem);
      }
      return problem;
    }
  }

  private void run() {
    while (!stopped) {
      try {
        if (asked.tryAcquire(LOOK_SECONDS, TimeUnit.SECONDS)) {
          asked.drainPermits();
        }
        if (!stopped) {
          look();
        }
      } catch (InterruptedException e) {
        // Nobody else has this thread; close() is the way to end it.
        log.warn("The thread that reads files anew was interrupted and goes on");
      }
    }
  }

  @Override
  public void close() {
    stopped = true;
    asked.release();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
