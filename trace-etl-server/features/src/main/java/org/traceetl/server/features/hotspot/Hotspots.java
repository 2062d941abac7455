package org.traceetl.server.features.hotspot;

import java.util.List;
import org.traceetl.server.window.QueueId;

/**
 * What is decided, and what it is about. Immutable.
 *
 * @param state what this server does
 * @param epoch of the decisions in force; 0 for none yet
 * @param decidedMillis when they were decided, milliseconds since 1970
 * @param queues of the span topic
 * @param loadMillis when the load was looked at last; 0 for never
 * @param maxToMean heaviest queue by the mean of all; NaN while there is no load
 * @param applications those that live on more queues, then others with much load; bounded
 * @param behind queues with messages that wait, those with most first; bounded
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
  /** Before the first look. */
  static final Hotspots NONE =
      new Hotspots(State.AWAY, 0, 0, 0, 0, Double.NaN, List.of(), List.of());

  /** What a server does about hotspots. */
  public enum State {
    /** The topic of the decisions does not exist. */
    NO_TOPIC,
    /** The broker could not be asked yet, or cannot be asked now. */
    AWAY,
    /** Another server decides. */
    FOLLOWER,
    /** This server decides. */
    DECIDER
  }

  /**
   * One application.
   *
   * @param rate spans a second that arrive
   * @param share of all spans, 0 to 1
   * @param queues on how many it is to live
   * @param usedQueues on how many it has spans; fewer where it has fewer series
   * @param heaviest its spans a second on the queue with most of them
   * @param random whether it is spread at random
   * @param sinceMillis since when; 0 for ever
   * @param pinned whether it is left alone by configuration
   * @param stuck whether more queues have not helped: few hot series, or agents that do not follow;
   *     only the decider knows
   * @param lag its spans that wait to be counted, about
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
   * @param rate spans a second that arrive
   * @param recorded spans a second that were taken in
   * @param lagMessages that wait to be counted; those of the open window are among them
   * @param lag spans in them, about; NaN for not known
   * @param growing whether its server does not keep up with it
   */
  public record Queue(
      QueueId queue, double rate, double recorded, long lagMessages, double lag, boolean growing) {}
}
