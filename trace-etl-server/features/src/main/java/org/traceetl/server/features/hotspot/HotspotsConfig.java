package org.traceetl.server.features.hotspot;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.List;
import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.config.SigningConfig;

/**
 * Automatic hotspots: {@code trace-etl.hotspots}. A missing value is its default.
 *
 * @param enabled whether this server may decide. It also needs its topic, {@code history.enabled}
 *     and, if the pages are cumulative, {@code metrics.queue-label: always}
 * @param topic topic of the decisions; one queue suffices
 * @param interval time between two checks of the load; 100 ms to 2 h; at least two windows
 * @param minQueues queues of an application that is no hotspot, as configured in agents; 1 to 1024
 * @param maxQueues queues of an application at most; {@code min-queues} to 1024
 * @param growAbove a queue is overloaded if its load exceeds the mean by this factor; above 1 to
 *     100
 * @param growAfter consecutive checks before an application grows; 1 to 10000
 * @param shrinkBelow an application shrinks if half of its queues would each carry less than this
 *     part of the load at which it grew; above 0 to 0.9
 * @param shrinkAfter consecutive checks before an application shrinks; 1 to 10000
 * @param minQueueRate spans per second below which a queue is not overloaded, unless servers fall
 *     behind; at least 0
 * @param spreadRandom whether an application that more queues do not help is spread at random; its
 *     series are then on several queues, each with part of the counts
 * @param pinned applications to leave alone, with {@code *} as wildcard: those with {@code queues}
 *     in the routing file
 * @param signing of the decisions and of learnt names; default: none
 */
public record HotspotsConfig(
    Boolean enabled,
    String topic,
    Duration interval,
    Integer minQueues,
    Integer maxQueues,
    Double growAbove,
    Integer growAfter,
    Double shrinkBelow,
    Integer shrinkAfter,
    Long minQueueRate,
    Boolean spreadRandom,
    List<String> pinned,
    SigningConfig signing)
    implements DecisionsConfig {
  private static final String PREFIX = "trace-etl.hotspots.";
  private static final int MOST_QUEUES = 1_024;
  private static final int MOST_LOOKS = 10_000;
  private static final double MOST_GROW_ABOVE = 100;
  private static final double MOST_SHRINK_BELOW = 0.9;
  private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
  private static final Duration MAX_INTERVAL = Duration.ofHours(2);

  public HotspotsConfig {
    enabled = orElse(enabled, true);
    topic = orElse(topic, "trace-routing");
    interval = orElse(interval, Duration.ofSeconds(30));
    minQueues = orElse(minQueues, 2);
    maxQueues = orElse(maxQueues, MOST_QUEUES);
    growAbove = orElse(growAbove, 1.25);
    growAfter = orElse(growAfter, 4);
    shrinkBelow = orElse(shrinkBelow, 0.5);
    shrinkAfter = orElse(shrinkAfter, 20);
    minQueueRate = orElse(minQueueRate, 20_000L);
    spreadRandom = orElse(spreadRandom, false);
    pinned = List.copyOf(orElse(pinned, List.of()));
    signing = orElse(signing, SigningConfig.defaults());
    check(
        topic.matches("[%|a-zA-Z0-9_-]{1,127}"),
        PREFIX + "topic",
        topic,
        "must be 1 to 127 letters, digits, and %, |, _ or -");
    checkRange(PREFIX + "interval", interval, MIN_INTERVAL, MAX_INTERVAL, "must be 100 ms to 2 h");
    between("min-queues", minQueues, 1, MOST_QUEUES);
    between("max-queues", maxQueues, minQueues, MOST_QUEUES);
    between("grow-after", growAfter, 1, MOST_LOOKS);
    between("shrink-after", shrinkAfter, 1, MOST_LOOKS);
    check(
        growAbove > 1 && growAbove <= MOST_GROW_ABOVE,
        PREFIX + "grow-above",
        growAbove,
        "must be above 1 and at most 100");
    check(
        shrinkBelow > 0 && shrinkBelow <= MOST_SHRINK_BELOW,
        PREFIX + "shrink-below",
        shrinkBelow,
        "must be above 0 and at most 0.9: an application that has just lost queues must not"
            + " need them again at once");
    check(minQueueRate >= 0, PREFIX + "min-queue-rate", minQueueRate, "must be 0 or more");
  }

  /**
   * Returns the same configuration for windows of this length: each queue must have a window
   * between two checks, or the check would be void.
   */
  @Override
  public HotspotsConfig over(Duration window) {
    Duration least = window.multipliedBy(2);
    return new HotspotsConfig(
        enabled,
        topic,
        interval.compareTo(least) < 0 ? least : interval,
        minQueues,
        maxQueues,
        growAbove,
        growAfter,
        shrinkBelow,
        shrinkAfter,
        minQueueRate,
        spreadRandom,
        pinned,
        signing);
  }

  private static void between(String key, int value, int min, int max) {
    checkRange(PREFIX + key, value, min, max);
  }

  public static HotspotsConfig defaults() {
    return new HotspotsConfig(
        null, null, null, null, null, null, null, null, null, null, null, null, null);
  }
}
