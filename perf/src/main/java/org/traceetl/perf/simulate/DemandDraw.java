package org.traceetl.perf.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * How a run uses demand. It is drawn from a stream of its own, so the seed's other draws are those
 * of builds without demand.
 *
 * @param published whether servers publish what they need of spans
 * @param dimension whether spans have attributes, one of which is a dimension
 * @param twoConfigurations whether every other server has another configuration
 * @param agents by agent: whether it sends what servers demand
 */
record DemandDraw(
    boolean published, boolean dimension, boolean twoConfigurations, List<Boolean> agents) {
  private static final long STREAM = 0x6465_6d61_6e64L;

  /**
   * Draws what a seed uses.
   *
   * @param recorded whether the run begins or ends with a recorded state. Any build must be able to
   *     continue with it, so it has no dimension of spans
   */
  static DemandDraw of(long seed, int agents, boolean recorded) {
    SplittableRandom random = new SplittableRandom(seed ^ STREAM);
    boolean obeyed = random.nextBoolean();
    boolean published = random.nextInt(8) > 0 == obeyed;
    boolean twoConfigurations = random.nextBoolean();
    List<Boolean> details = new ArrayList<>();
    for (int agent = 0; agent < agents; agent++) {
      details.add(obeyed && (random.nextInt(4) > 0 || agent == 0));
    }
    return new DemandDraw(
        published,
        (obeyed || published) && !recorded,
        published && twoConfigurations,
        List.copyOf(details));
  }
}
