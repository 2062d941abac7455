package org.traceetl.server.features.hotspot;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.server.window.QueueId;

/**
 * Decides which applications get more queues, check by check, from their loads only.
 *
 * <p>A queue is overloaded if more than {@code growAbove} times the mean arrives on it for {@code
 * growAfter} checks; a queue with little load only if the fleet falls behind with it. Then the
 * applications with most of its load get more queues: at most twice as many, or all if twice as
 * many are two thirds of all. As many applications grow as are needed to bring the queue to the
 * mean if each halves its part. After that, their queues are observed from the beginning.
 *
 * <p>An application loses half of its queues if its load per queue, on that half, was below {@code
 * shrinkBelow} times the load per queue at which it grew, for {@code shrinkAfter} checks. So a load
 * that is constant, or varies by less, changes nothing. Sizes only grow while a queue is
 * overloaded, and they are bounded, so they settle.
 *
 * <p>An application is stuck if it grew twice and its heaviest queue did not lose a tenth of the
 * application's load; or if it has all queues and its load is distributed very unevenly, or
 * unevenly with a queue that the fleet falls behind with. Then it has few hot series, or the agents
 * do not apply the decisions. It does not grow until that changes, or is spread at random if the
 * configuration allows it.
 *
 * <p>Not thread-safe.
 */
public final class HotspotPolicy {
  /** A smaller part of the mean is not worth moving. */
  static final double LEAST_PART = 0.05;

  /** The heaviest part must shrink by more than this when queues are added. */
  private static final double RELIEVED_BELOW = 0.9;

  private static final int FAILED_GROWTHS_UNTIL_STUCK = 2;

  /**
   * Factor on the allowed excess over the mean for an application with all queues, while its server
   * keeps up: many equal series are as uneven by chance, servers own several queues, and spreading
   * at random costs each series a row on all queues.
   */
  private static final int UNEVEN_BY_CHANCE = 2;

  private static final double MILLI = 1_000;

  /** State of an application with more queues, in addition to the decision. */
  private static final class Watched {
    private int looksBelow;
    private int looksRelieved;
    private int failedGrowths;
    private boolean stuck;

    /** Part of its load on its heaviest queue at its last growth; NaN if unknown. */
    private double concentration = Double.NaN;

    private boolean judged;

    /**
     * Counts the last growth as failed, once, if the heaviest queue still has as much of the load.
     */
    void judge(double now) {
      if (Double.isNaN(concentration) || now <= RELIEVED_BELOW * concentration) {
        failedGrowths = 0;
      } else if (!judged) {
        failedGrowths++;
        judged = true;
      }
    }

    void grew(double now) {
      concentration = now;
      judged = false;
      looksBelow = 0;
    }
  }

  private final HotspotsConfig config;
  private final Map<String, Decision> decided = new TreeMap<>();
  private final Map<String, Watched> watched = new HashMap<>();
  private final Set<String> newlyStuck = new HashSet<>();
  private List<QueueId> queues = List.of();
  private int[] looksOverloaded = {};
  private int[] looksGrowing = {};

  public HotspotPolicy(HotspotsConfig config) {
    this.config = config;
  }

  /** Continues from decisions of another server. */
  public void adopt(Map<String, Decision> decisions) {
    decided.clear();
    decided.putAll(decisions);
    watched.keySet().retainAll(decided.keySet());
  }

  /** Returns the decisions in force, by application. */
  public Map<String, Decision> decided() {
    return Map.copyOf(decided);
  }

  /** Returns whether more queues have not helped an application. */
  public boolean stuck(String application) {
    Watched known = watched.get(application);
    return known != null && known.stuck;
  }

  /** Returns the applications that became stuck since the last call. */
  Set<String> takeNewlyStuck() {
    Set<String> taken = new TreeSet<>(newlyStuck);
    newlyStuck.clear();
    return taken;
  }

  /** Forgets earlier checks, because another server has decided meanwhile. */
  public void forget() {
    Arrays.fill(looksOverloaded, 0);
    Arrays.fill(looksGrowing, 0);
    watched.clear();
  }

  /**
   * Does one check.
   *
   * @param pinned applications that are not changed
   * @param nowMillis milliseconds since 1970, for new decisions
   * @return whether a decision changed
   */
  public boolean look(QueueLoads loads, Predicate<String> pinned, long nowMillis) {
    if (!loads.queues().equals(queues)) {
      queues = loads.queues();
      looksOverloaded = new int[queues.size()];
      looksGrowing = new int[queues.size()];
    }
    double[] totals = loads.totals();
    double mean = Arrays.stream(totals).average().orElse(0);
    if (mean <= 0) {
      return false;
    }
    // Not "||": both must observe this check.
    boolean unpinned = decided.keySet().removeIf(pinned);
    boolean shrunk = shrink(loads, mean, nowMillis);
    release(loads, totals, mean);
    return grow(loads, totals, mean, pinned, nowMillis) || shrunk || unpinned;
  }

  private boolean grow(
      QueueLoads loads, double[] totals, double mean, Predicate<String> pinned, long nowMillis) {
    for (int queue = 0; queue < totals.length; queue++) {
      boolean overloaded = isOverloaded(queue, loads, totals, mean);
      looksOverloaded[queue] = overloaded ? looksOverloaded[queue] + 1 : 0;
      looksGrowing[queue] = loads.lags().get(queue).growing() ? looksGrowing[queue] + 1 : 0;
    }
    int[] heaviestFirst =
        IntStream.range(0, totals.length)
            .filter(queue -> looksOverloaded[queue] >= config.growAfter())
            .boxed()
            .sorted((a, b) -> Double.compare(totals[b], totals[a]))
            .mapToInt(Integer::intValue)
            .toArray();
    Set<String> grown = new HashSet<>();
    for (int queue : heaviestFirst) {
      relieve(queue, totals[queue] - mean, loads, mean, pinned, grown, nowMillis);
    }
    // The effect on their queues is visible only after the agents have applied the decision.
    for (String application : grown) {
      double[] rates = loads.rates().get(application);
      for (int queue = 0; queue < rates.length; queue++) {
        looksOverloaded[queue] = rates[queue] > 0 ? 0 : looksOverloaded[queue];
      }
    }
    return !grown.isEmpty();
  }

  private boolean isOverloaded(int queue, QueueLoads loads, double[] totals, double mean) {
    return totals[queue] > config.growAbove() * mean
        && (totals[queue] >= config.minQueueRate() || loads.lags().get(queue).growing());
  }

  private void relieve(
      int queue,
      double excess,
      QueueLoads loads,
      double mean,
      Predicate<String> pinned,
      Set<String> grown,
      long nowMillis) {
    List<Map.Entry<String, double[]>> heaviestFirst =
        loads.rates().entrySet().stream()
            .filter(entry -> entry.getValue()[queue] >= LEAST_PART * mean)
            .sorted(
                Map.Entry.<String, double[]>comparingByValue(
                        (a, b) -> Double.compare(b[queue], a[queue]))
                    .thenComparing(Map.Entry.comparingByKey()))
            .toList();
    double left = excess;
    double heaviest = 0;
    for (Map.Entry<String, double[]> entry : heaviestFirst) {
      double part = entry.getValue()[queue];
      if (left <= 0 || part < heaviest / 2) {
        return;
      }
      String application = entry.getKey();
      if (!grown.contains(application)
          && !pinned.test(application)
          && grow(application, entry.getValue(), queue, mean, nowMillis)) {
        grown.add(application);
      }
      if (grown.contains(application)) {
        left -= part / 2;
        heaviest = Math.max(heaviest, part);
      }
    }
  }

  /** Returns whether it could get more queues, or be spread at random. */
  private boolean grow(
      String application, double[] rates, int overloaded, double mean, long nowMillis) {
    Decision before = decided.get(application);
    boolean room = before != null || decided.size() < HotspotDecisions.MAX_APPLICATIONS;
    if (!room || !HotspotDecisions.takes(application)) {
      return false;
    }
    double load = Arrays.stream(rates).sum();
    double concentration = Arrays.stream(rates).max().orElse(0) / load;
    int k = size(before);
    int more = grown(k);
    boolean wasRandom = before != null && before.random();
    boolean random = wasRandom;
    Watched state = watched.computeIfAbsent(application, absent -> new Watched());
    state.judge(concentration);
    double uneven =
        looksGrowing[overloaded] >= config.growAfter()
            ? config.growAbove()
            : 1 + UNEVEN_BY_CHANCE * (config.growAbove() - 1);
    boolean exhausted = more == k && concentration * k > uneven;
    boolean helpless = exhausted || state.failedGrowths >= FAILED_GROWTHS_UNTIL_STUCK;
    if (helpless && (random || !config.spreadRandom())) {
      if (!state.stuck) {
        newlyStuck.add(application);
      }
      state.stuck = true;
      return false;
    }
    if (helpless) {
      random = true;
      more = k;
    }
    if (more == k && random == wasRandom) {
      return false;
    }
    state.stuck = false;
    state.grew(concentration);
    decided.put(application, new Decision(more, random, milli(load / k / mean), nowMillis));
    return true;
  }

  /** An application is no longer stuck if none of its queues was overloaded for as long. */
  private void release(QueueLoads loads, double[] totals, double mean) {
    watched.forEach((application, state) -> {
      double[] rates = loads.rates().getOrDefault(application, new double[0]);
      boolean relieved =
          IntStream.range(0, rates.length)
              .noneMatch(queue -> rates[queue] > 0 && isOverloaded(queue, loads, totals, mean));
      state.looksRelieved = state.stuck && relieved ? state.looksRelieved + 1 : 0;
      state.stuck &= state.looksRelieved < config.growAfter();
    });
  }

  private boolean shrink(QueueLoads loads, double mean, long nowMillis) {
    boolean any = false;
    for (String application : List.copyOf(decided.keySet())) {
      Decision before = decided.get(application);
      double load = Arrays.stream(loads.rates().getOrDefault(application, new double[0])).sum();
      Watched state = watched.computeIfAbsent(application, absent -> new Watched());
      int fewer = Math.max(config.minQueues(), size(before) / 2);
      boolean below = load / fewer / mean * MILLI < config.shrinkBelow() * before.levelMilli();
      state.looksBelow = below || load == 0 ? state.looksBelow + 1 : 0;
      if (state.looksBelow >= config.shrinkAfter()) {
        any = true;
        if (fewer == config.minQueues()) {
          decided.remove(application);
          watched.remove(application);
        } else {
          decided.put(
              application, new Decision(fewer, before.random(), before.levelMilli(), nowMillis));
          watched.put(application, new Watched());
        }
      }
    }
    return any;
  }

  private int size(Decision decision) {
    return Math.min(queues.size(), decision == null ? config.minQueues() : decision.queues());
  }

  private int grown(int k) {
    int most = Math.min(queues.size(), config.maxQueues());
    int twice = Math.min(2 * k, most);
    return 3 * twice >= 2 * most ? most : twice;
  }

  private static int milli(double value) {
    return (int) Math.min(Integer.MAX_VALUE, Math.round(value * MILLI));
  }
}
