package org.traceetl.perf.simulate;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.traceetl.perf.simulate.agent.Calls;
import org.traceetl.perf.simulate.check.HalfEdge;
import org.traceetl.server.config.EdgesConfig;

/**
 * How a run uses half-edges. It is drawn from a stream of its own, so the seed's other draws are
 * those of a run without half-edges.
 *
 * @param used whether servers read half-edges, and spans have parents
 * @param queues of half-edges on each broker, at the start; 0 if they are not used
 * @param maxWait how long halves wait
 * @param workers threads of a server that read half-edges
 * @param dimensions of edges, those of {@link HalfEdge#DIMENSIONS} or none
 * @param links whether spans of consumers have links
 */
record EdgeDraw(
    boolean used,
    int queues,
    Duration maxWait,
    int workers,
    List<String> dimensions,
    boolean links) {
  /** With it, the kept schedules that use demand draw no half-edges, so their runs stay. */
  private static final long STREAM = 0xCE;

  /** With it, what else a seed draws stays. */
  private static final long DETAILS_STREAM = 0xCECE;

  private static final int MOST_QUEUES = 4;
  private static final int MOST_WORKERS = 2;

  /** Also longer than most rounds: then few halves expire, and late ones find each other. */
  private static final int[] WAIT_SECONDS = {10, 30, 600};

  private static final EdgeDraw NONE = new EdgeDraw(false, 0, Duration.ZERO, 0, List.of(), false);

  /**
   * Draws what a plan uses.
   *
   * @param recorded whether the run begins or ends with a recorded state, which has no half-edges
   */
  static EdgeDraw of(Plan plan, boolean recorded) {
    SplittableRandom random = new SplittableRandom(plan.seed() ^ STREAM);
    SplittableRandom details = new SplittableRandom(plan.seed() ^ DETAILS_STREAM);
    boolean used = random.nextBoolean() && DemandDraw.of(plan, recorded).panes();
    return used
        ? new EdgeDraw(
            true,
            1 + random.nextInt(MOST_QUEUES),
            Duration.ofSeconds(WAIT_SECONDS[random.nextInt(WAIT_SECONDS.length)]),
            1 + random.nextInt(MOST_WORKERS),
            details.nextBoolean() ? HalfEdge.DIMENSIONS : List.of(),
            details.nextBoolean())
        : NONE;
  }

  /** Returns the calls of a run; null if spans have no parents. */
  Calls calls(long seed) {
    return used
        ? new Calls(
            new SplittableRandom(seed),
            links ? new SplittableRandom(seed ^ DETAILS_STREAM) : null,
            !dimensions.isEmpty())
        : null;
  }

  /** Returns the configuration of servers. */
  EdgesConfig config() {
    return used
        ? new EdgesConfig(true, null, null, null, maxWait, null, workers, null, dimensions)
        : EdgesConfig.defaults();
  }
}
