package org.traceetl.server.features.hotspot;

import java.util.List;
import org.traceetl.server.window.QueueId;

/**
 * The decisions and their reasons. Immutable.
 *
 * @param state role of this server
 * @param epoch epoch of the decisions in force; 0 for none
 * @param decidedMillis time of the decision, milliseconds since 1970
 * @param queues queues of the span topic
 * @param loadMillis time of the latest check; 0 for never
 * @param maxToMean load of the heaviest queue divided by the mean; NaN without load
 * @param applications applications with more queues, then others with much load; bounded
 * @param behind queues with a backlog, the largest first; bounded
 */
public record Hotspots(
    State state,
    long epoch,
    long decidedMillis,
    int queues,
    long loadMillis,
    double maxToMean,
    List<Application> applications,
    List<Queue> behind) {
  /** The state before the first check. */
  static final Hotspots NONE =
      new Hotspots(State.AWAY, 0, 0, 0, 0, Double.NaN, List.of(), List.of());

  /** The role of a server for hotspots. */
  public enum State {
    /** The topic of the decisions does not exist. */
    NO_TOPIC,
    /** The broker does not answer. */
    AWAY,
    /** Another server decides. */
    FOLLOWER,
    /** This server decides. */
    DECIDER
  }

  /**
   * One application.
   *
   * @param rate arriving spans per second
   * @param share part of all spans, 0 to 1
   * @param queues number of queues decided
   * @param usedQueues number of queues with its spans; smaller if it has fewer series
   * @param heaviest its spans per second on its most loaded queue
   * @param random whether it is spread at random
   * @param sinceMillis time of the decision; 0 for always
   * @param pinned whether the configuration excludes it
   * @param stuck whether more queues have not helped: few hot series, or agents that do not apply
   *     decisions; known only to the decider
   * @param lag approximate number of its spans that are not counted yet
   */
  public record Application(
      String application,
      double rate,
      double share,
      int queues,
      int usedQueues,
      double heaviest,
      boolean random,
      long sinceMillis,
      boolean pinned,
      boolean stuck,
      double lag) {}

  /**
   * One queue.
   *
   * @param rate arriving spans per second
   * @param recorded recorded spans per second
   * @param lagMessages messages that are not counted yet, including those of the open window
   * @param lag approximate number of spans in them; NaN if unknown
   * @param growing whether its server does not keep up
   */
  public record Queue(
      QueueId queue, double rate, double recorded, long lagMessages, double lag, boolean growing) {}
}
