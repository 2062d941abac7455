package org.traceetl.perf.simulate.fault;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.traceetl.perf.simulate.broker.Misbehaviour;

/**
 * Draws schedules. Equal arguments draw equal schedules.
 *
 * <p>Each round has a character of its own: which kinds of faults it has, and how many. Faults that
 * occur together are needed for most bugs, and a fault may also hide a bug that another one shows
 * (Groce et al., <i>Swarm Testing</i>, ISSTA 2012). So some faults follow another one within
 * seconds, often at the same program.
 */
public final class Drawing {
  /** The latest begin of faults: all programs are ready. They may begin while programs start. */
  private static final int START_MILLIS = (int) Duration.ofMinutes(1).toMillis();

  /** From a quiet point to the next faults; the scenario delays them if not all is visible. */
  private static final long REST_MILLIS = Duration.ofMinutes(1).toMillis();

  private static final long MIN_ROUND_MILLIS = Duration.ofMinutes(1).toMillis();
  private static final long MAX_ROUND_MILLIS = Duration.ofMinutes(8).toMillis();

  /** How many faults rounds have, relative to the mean. */
  private static final double[] DENSITIES = {0.2, 0.6, 1.2, 2};

  /** Weights of the kinds of faults: processes, times, disks, partitions, brokers, service, ... */
  private static final int[] WEIGHTS = {3, 2, 1, 1, 1, 2, 1};

  /** By which a round multiplies the weight of each kind. */
  private static final int[] FACTORS = {0, 1, 1, 4};

  /** The share of faults that follow another one. */
  private static final double FOLLOWING = 0.4;

  private static final long MAX_FOLLOWING_MILLIS = 20_000;

  /** One of this number of faults acts on another target than the one before it. */
  private static final int OTHER_TARGET_IN = 4;

  /**
   * Half of the faults last at least this long, if the round has room: longer than a send's
   * timeout.
   */
  private static final long LONG_LAST_MILLIS = 5_000;

  /** One of this number of rounds begins with the outage of a broker, which fills spools. */
  private static final int OUTAGE_IN = 2;

  private static final int LONG_IN = 8;

  /** One of this number of rounds is long, for faults that last longer. */
  private static final int LONG_ROUND_IN = 20;

  /** Below the time for which brokers keep messages. */
  private static final long MAX_LONG_ROUND_MILLIS = Duration.ofMinutes(100).toMillis();

  private static final long MAX_GAP_MILLIS = Duration.ofDays(36_525).toMillis();
  private static final long MIN_LAST_MILLIS = 50;
  private static final long MINUTE_MILLIS = Duration.ofMinutes(1).toMillis();
  private static final int MAX_OPERATIONS = 400;
  private static final int MAX_QUEUES = 8;

  /** Below the time after which senders give up an attempt. */
  private static final long MAX_STALL_MILLIS = 2_000;

  /**
   * A host takes longer to start than controllers wait for a heartbeat. A master that were back
   * earlier would stay the master, and with ASYNC_FLUSH lack confirmed messages
   * (ReplicasInfoManager.electMaster: CONTROLLER_MASTER_STILL_EXIST).
   */
  private static final long MIN_REBOOT_MILLIS = 15_000;

  private static final int MAX_DRIFT_PPM = 5_000;
  private static final long LONG_STEP_MILLIS = Duration.ofMinutes(10).toMillis();
  private static final long MAX_REBALANCE_MILLIS = 20_000;
  private static final long RETENTION_MILLIS = Duration.ofMinutes(30).toMillis();

  private static final long EDGE_QUEUE_STREAM = 0x24;
  private static final long RULES_STREAM = 0x25;
  private static final int MOST_CHANGES_OF_RULES = 3;

  private static final Misbehaviour[] UNCERTAIN = {
    Misbehaviour.LOST_ANSWER,
    Misbehaviour.LATE_REQUEST,
    Misbehaviour.LATE_ANSWER,
    Misbehaviour.REPEATED_REQUEST
  };

  private final SplittableRandom random;
  private final Fleet fleet;
  private final int[] weights = WEIGHTS.clone();

  // Where faults that follow each other often act.
  private Target agent;
  private Target server;
  private Target broker;

  private Drawing(long seed, Fleet fleet) {
    random = new SplittableRandom(seed);
    this.fleet = fleet;
    drawTargets();
  }

  private void drawTargets() {
    agent = Target.agent(1 + random.nextInt(fleet.agents()));
    server = Target.server(1 + random.nextInt(fleet.servers()));
    broker = Target.broker(1 + random.nextInt(fleet.brokers()));
  }

  /**
   * Draws the faults and quiet points of a run.
   *
   * @param length at least; the last round is completed
   * @param faultsPerMinute mean number
   */
  public static Schedule draw(long seed, Fleet fleet, Duration length, double faultsPerMinute) {
    return new Drawing(seed, fleet).schedule(length.toMillis(), faultsPerMinute);
  }

  private Schedule schedule(long lengthMillis, double faultsPerMinute) {
    List<Long> quiet = new ArrayList<>();
    List<Fault> faults = new ArrayList<>();
    long beginMillis = 1 + random.nextInt(START_MILLIS);
    do {
      long endMillis = beginMillis + roundMillis(lengthMillis - beginMillis);
      drawWeights();
      // Faults rest after quiet points; the mean includes these times.
      double gapMillis =
          MINUTE_MILLIS
              / (faultsPerMinute * DENSITIES[random.nextInt(DENSITIES.length)])
              * (endMillis - beginMillis)
              / (endMillis - beginMillis + REST_MILLIS);
      long atMillis = beginMillis + gap(gapMillis);
      if (atMillis < endMillis && random.nextInt(OUTAGE_IN) == 0) {
        // In place of the first fault, for the mean.
        faults.add(outage(beginMillis, endMillis - beginMillis));
        atMillis += next(gapMillis);
      }
      while (atMillis < endMillis - 2 * MIN_LAST_MILLIS) {
        faults.add(fault(atMillis, endMillis - atMillis - 1));
        atMillis += next(gapMillis);
      }
      quiet.add(endMillis);
      beginMillis = endMillis + REST_MILLIS;
    } while (beginMillis < lengthMillis);
    return new Schedule(quiet, faults);
  }

  /**
   * Returns the schedule with one more queue of half-edges at some time. The time is drawn from a
   * stream of its own, so the other faults are those of a run without half-edges.
   */
  public static Schedule withAddedEdgeQueue(long seed, Schedule schedule) {
    long at =
        new SplittableRandom(seed ^ EDGE_QUEUE_STREAM).nextLong(schedule.quietMillis().getLast());
    List<Fault> faults = new ArrayList<>(schedule.faults());
    faults.add(new Fault.AddedEdgeQueue(at, 0));
    return schedule.with(faults);
  }

  /**
   * Returns the schedule with changes of rules at some times, the last of which often takes the
   * dimension back. They are drawn from a stream of their own, so the other faults are those of a
   * run without rules.
   */
  public static Schedule withChangedRules(long seed, Fleet fleet, Schedule schedule) {
    SplittableRandom random = new SplittableRandom(seed ^ RULES_STREAM);
    long endMillis = schedule.quietMillis().getLast();
    List<Fault> faults = new ArrayList<>(schedule.faults());
    faults.add(
        new Fault.ChangedRules(random.nextLong(endMillis / 2), applications(fleet, random), 0));
    for (int left = random.nextInt(MOST_CHANGES_OF_RULES); left > 0; left--) {
      int applications = random.nextBoolean() ? 0 : applications(fleet, random);
      faults.add(new Fault.ChangedRules(random.nextLong(endMillis), applications, 0));
    }
    return schedule.with(faults);
  }

  private static int applications(Fleet fleet, SplittableRandom random) {
    return 1 + random.nextInt(fleet.agents());
  }

  private void drawWeights() {
    int sum = 0;
    while (sum == 0) {
      for (int kind = 0; kind < weights.length; kind++) {
        weights[kind] = WEIGHTS[kind] * FACTORS[random.nextInt(FACTORS.length)];
        sum += weights[kind];
      }
    }
  }

  /** Draws the time until the next fault, which often acts on the same target if it is near. */
  private long next(double meanMillis) {
    double shortMeanMillis =
        (MAX_FOLLOWING_MILLIS - MIN_LAST_MILLIS)
            / Math.log((double) MAX_FOLLOWING_MILLIS / MIN_LAST_MILLIS);
    if (meanMillis > shortMeanMillis && random.nextDouble() < FOLLOWING) {
      return millis(MIN_LAST_MILLIS, MAX_FOLLOWING_MILLIS);
    }
    drawTargets();
    return gap(
        meanMillis > shortMeanMillis
            ? (meanMillis - FOLLOWING * shortMeanMillis) / (1 - FOLLOWING)
            : meanMillis);
  }

  private long roundMillis(long leftMillis) {
    return random.nextInt(LONG_ROUND_IN) == 0 && leftMillis > 2 * MAX_ROUND_MILLIS
        ? random.nextLong(MAX_ROUND_MILLIS, Math.min(MAX_LONG_ROUND_MILLIS, leftMillis))
        : random.nextLong(MIN_ROUND_MILLIS, MAX_ROUND_MILLIS);
  }

  /** Draws the time until the next fault; without faults, more than the length of a run. */
  private long gap(double meanMillis) {
    double millis = -Math.log(1 - random.nextDouble()) * meanMillis;
    return millis < MAX_GAP_MILLIS ? 1 + (long) millis : MAX_GAP_MILLIS;
  }

  /** Draws a fault that ends in time. */
  private Fault fault(long at, long restMillis) {
    // Some last for most of a long round.
    long mostMillis = random.nextInt(LONG_IN) == 0 ? restMillis : 3 * MINUTE_MILLIS;
    long lasts = lasts(Math.min(restMillis, mostMillis));
    return switch (kind()) {
      case 0 -> ofProcess(at, lasts, restMillis);
      case 1 -> ofTime(at, lasts, restMillis);
      case 2 -> ofDisk(at, lasts);
      case 3 -> partition(at, lasts);
      case 4 -> ofBroker(at, lasts, restMillis);
      case 5 -> badService(at, lasts);
      default -> ofOthers(at, lasts, restMillis);
    };
  }

  /** Draws a fault of a broker that lasts for most of a round; most of them fill spools. */
  private Fault outage(long at, long roundMillis) {
    long lasts = random.nextLong(roundMillis / 2, roundMillis - 1);
    return switch (random.nextInt(8)) {
      case 0 -> new Fault.BrokerCrash(at, broker, lasts);
      // Servers still process what they have.
      case 1, 2 -> new Fault.ReadOnly(at, broker, lasts);
      case 3 -> new Fault.Partition(at, agent, broker, random.nextBoolean(), lasts);
      case 4 -> new Fault.Partition(at, broker, agent, false, lasts);
      default ->
          new Fault.BadService(
              at, broker, misbehaviour(), random.nextInt(100, 1_001), millis(1_000, 30_000), lasts);
    };
  }

  private int kind() {
    int left = random.nextInt(Arrays.stream(weights).sum());
    int kind = 0;
    while (left >= weights[kind]) {
      left -= weights[kind++];
    }
    return kind;
  }

  private Fault ofProcess(long at, long lasts, long restMillis) {
    return switch (random.nextInt(11)) {
      case 0, 1, 2 -> new Fault.Crash(at, server(), operations(), lasts);
      case 3, 4 -> new Fault.Crash(at, agent(), operations(), lasts);
      case 5, 6 -> new Fault.PowerLoss(at, agent(), operations(), lasts);
      case 7, 8 -> new Fault.Drain(at, program(), lasts);
      default -> new Fault.ScaleOut(at, Target.server(fleet.servers() + 1), lasts(restMillis));
    };
  }

  private Fault ofTime(long at, long lasts, long restMillis) {
    return switch (random.nextInt(4)) {
      case 0, 1 -> new Fault.Pause(at, program(), lasts(restMillis));
      case 2 ->
          new Fault.ClockStep(at, random.nextInt(3) == 0 ? broker() : program(), step(), lasts);
      default ->
          new Fault.Drift(
              at, program(), random.nextInt(-MAX_DRIFT_PPM, MAX_DRIFT_PPM), lasts(restMillis));
    };
  }

  private Fault ofDisk(long at, long lasts) {
    return switch (random.nextInt(4)) {
      case 0 -> new Fault.FullDisk(at, random.nextInt(3) == 0 ? broker() : agent(), lasts);
      case 1 -> new Fault.SlowDisk(at, agent(), millis(1, 5_000), lasts);
      case 2 -> new Fault.FailedFlushes(at, agent(), lasts);
      default -> new Fault.FailedWrites(at, agent(), lasts);
    };
  }

  private Fault ofBroker(long at, long lasts, long restMillis) {
    int replica = random.nextInt(fleet.replicas());
    return switch (random.nextInt(fleet.replicas() > 1 ? 6 : 3)) {
      case 0 -> new Fault.BrokerCrash(at, broker(), lasts);
      case 1 -> powerLoss(at, lasts, restMillis);
      case 2 -> new Fault.ReadOnly(at, broker(), lasts);
      case 3 -> new Fault.FailOver(at, broker(), random.nextInt(20), 0);
      case 4 -> new Fault.ReplicaCrash(at, broker(), replica, lasts);
      default -> new Fault.ReplicaLag(at, broker(), replica, millis(1, 30_000), lasts);
    };
  }

  private Fault ofOthers(long at, long lasts, long restMillis) {
    return switch (random.nextInt(5)) {
      case 0 -> new Fault.Rebalance(at, lasts(Math.min(restMillis, MAX_REBALANCE_MILLIS)));
      case 1 ->
          at > RETENTION_MILLIS
              ? new Fault.Retention(at, broker(), RETENTION_MILLIS, 0)
              : new Fault.IndexAway(at, lasts(restMillis));
      case 2 -> new Fault.BadIndex(at, random.nextInt(10, 1_001), lasts);
      case 3 -> new Fault.Routing(at, agent(), random.nextInt(1, MAX_QUEUES + 1), lasts);
      default -> new Fault.IndexAway(at, lasts(restMillis));
    };
  }

  /** Draws a duration: each order of magnitude is equally probable, or each long one. */
  private long lasts(long maxMillis) {
    long min = random.nextBoolean() ? MIN_LAST_MILLIS : Math.min(LONG_LAST_MILLIS, maxMillis / 2);
    return millis(Math.max(MIN_LAST_MILLIS, min), Math.max(MIN_LAST_MILLIS + 1, maxMillis));
  }

  private Fault powerLoss(long at, long lasts, long restMillis) {
    long stall = random.nextBoolean() ? 0 : random.nextLong(MAX_STALL_MILLIS);
    return restMillis < MIN_REBOOT_MILLIS
        ? new Fault.BrokerCrash(at, broker(), lasts)
        : new Fault.BrokerPowerLoss(at, broker(), stall, Math.max(MIN_REBOOT_MILLIS, lasts));
  }

  private long millis(long min, long max) {
    return Math.min(max, (long) (min * Math.pow((double) max / min, random.nextDouble())));
  }

  /**
   * Draws up to an hour back or forward; half of the steps are longer than what ages in minutes.
   */
  private long step() {
    long least = random.nextBoolean() ? 1 : LONG_STEP_MILLIS;
    long by = millis(least, Duration.ofHours(1).toMillis());
    return random.nextBoolean() ? by : -by;
  }

  private Fault partition(long at, long lasts) {
    Target one = program();
    Target other = random.nextInt(4) == 0 ? Target.NAME_SERVER : broker();
    if (fleet.replicas() > 1 && random.nextBoolean()) {
      one = replica();
      other =
          switch (random.nextInt(4)) {
            case 0, 1 -> Target.CONTROLLERS;
            case 2 -> otherReplica(one);
            default -> random.nextBoolean() ? program() : Target.NAME_SERVER;
          };
    }
    boolean forth = random.nextBoolean();
    return new Fault.Partition(
        at, forth ? one : other, forth ? other : one, random.nextBoolean(), lasts);
  }

  /** Draws a replica of the broker. */
  private Target replica() {
    return Target.replica(
        (broker().number() - 1) * fleet.replicas() + 1 + random.nextInt(fleet.replicas()));
  }

  /** Draws another replica of the same broker. */
  private Target otherReplica(Target than) {
    int index = than.number() - 1;
    int within = (index + random.nextInt(1, fleet.replicas())) % fleet.replicas();
    return Target.replica(index / fleet.replicas() * fleet.replicas() + within + 1);
  }

  private Fault badService(long at, long lasts) {
    return new Fault.BadService(
        at, broker(), misbehaviour(), random.nextInt(10, 1_001), millis(1, 30_000), lasts);
  }

  /** Draws half of the time one after which a client does not know whether its request counts. */
  private Misbehaviour misbehaviour() {
    Misbehaviour[] from = random.nextBoolean() ? UNCERTAIN : Misbehaviour.values();
    return from[random.nextInt(from.length)];
  }

  /** Draws half of the time now, else some steps later. */
  private int operations() {
    return random.nextBoolean() ? 0 : random.nextInt(1, MAX_OPERATIONS);
  }

  private Target program() {
    return random.nextBoolean() ? server() : agent();
  }

  private Target agent() {
    return isSame() ? agent : Target.agent(1 + random.nextInt(fleet.agents()));
  }

  private Target server() {
    return isSame() ? server : Target.server(1 + random.nextInt(fleet.servers()));
  }

  private Target broker() {
    return isSame() ? broker : Target.broker(1 + random.nextInt(fleet.brokers()));
  }

  private boolean isSame() {
    return random.nextInt(OTHER_TARGET_IN) > 0;
  }
}
