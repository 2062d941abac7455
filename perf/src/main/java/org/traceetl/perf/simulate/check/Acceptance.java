package org.traceetl.perf.simulate.check;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.traceetl.testkit.PageSample;

/**
 * Liveness of an agent: it stores a request within a minute while it runs, its disk works and half
 * of its spool is free. A process that has accepted no span since its start may lack the topic's
 * queues, which it needs once.
 */
public final class Acceptance {
  private static final String PREFIX = "trace_etl_agent_";
  private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** A longer time between two pages is a pause of the process. */
  private static final long MOST_GAP_NANOS = TimeUnit.SECONDS.toNanos(15);

  private final String agent;
  private final Consumer<String> failures;
  private String process = "";
  private long soundSinceNanos;
  private long lastNanos;

  public Acceptance(String agent, Consumer<String> failures) {
    this.agent = agent;
    this.failures = failures;
  }

  /**
   * Reads a page. Pages are read regularly, on a thread of the agent's process.
   *
   * @param running name of the process, which no earlier one had
   * @param diskWorks whether no fault affects the disk
   * @param waitingSinceNanos when the oldest request without an outcome began; now if none waits
   */
  public void read(
      String running,
      long nowNanos,
      List<PageSample> page,
      boolean diskWorks,
      long waitingSinceNanos) {
    boolean sound =
        running.equals(process)
            && nowNanos - lastNanos <= MOST_GAP_NANOS
            && diskWorks
            && sum(page, "spans_accepted_total") > 0
            && 2 * sum(page, "spool_bytes") < sum(page, "spool_limit_bytes")
            && 2 * sum(page, "spool_batches") < sum(page, "spool_limit_batches");
    process = running;
    lastNanos = nowNanos;
    if (!sound) {
      soundSinceNanos = nowNanos;
    }
    long refusedNanos = nowNanos - Math.max(soundSinceNanos, waitingSinceNanos);
    if (refusedNanos > LIMIT_NANOS) {
      failures.accept(
          String.format(
              Locale.ROOT,
              "%s has stored no request for %d s, although its disk and its spool are sound",
              agent,
              TimeUnit.NANOSECONDS.toSeconds(refusedNanos)));
    }
  }

  private static double sum(List<PageSample> page, String name) {
    return PageSample.sum(page, PREFIX + name);
  }
}
