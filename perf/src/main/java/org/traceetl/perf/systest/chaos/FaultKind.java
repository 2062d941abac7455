package org.traceetl.perf.systest.chaos;

import java.util.List;

/** What is done to the installation. The first ten are those that a short run holds. */
enum FaultKind {
  KILL_SERVER("kill -9 of a server", Role.SERVER, Action.KILL, 1, 0, 8),
  PAUSE_SERVER_BEYOND_SESSION(
      "SIGSTOP of a server, beyond its session",
      Role.SERVER,
      Action.PAUSE,
      1,
      (int) ChaosInstallation.SESSION.toSeconds() + 15,
      (int) ChaosInstallation.SESSION.toSeconds() + 25),
  KILL_AGENT("kill -9 of an agent", Role.AGENT, Action.KILL, 1, 0, 5),
  KILL_BROKER("kill -9 of the broker", Role.BROKER, Action.KILL, 1, 0, 5),
  ELASTICSEARCH_AWAY("Elasticsearch away", Role.ELASTICSEARCH, Action.KILL, 1, 30, 60),
  FILL_SPOOL_DISK("an agent's spool disk full", Role.SPOOL_DISK, Action.FILL, 1, 8, 20),
  SCALE("scaling 3 servers to 1 and back", Role.SERVER, Action.TERMINATE, 2, 10, 20),
  RESTART_SERVER("restart of a server (SIGTERM)", Role.SERVER, Action.TERMINATE, 1, 0, 0),
  REROUTE(
      "other queues for applications",
      Role.ROUTING_FILE,
      Action.REROUTE,
      ChaosInstallation.AGENTS,
      5,
      15),
  SLOW_SPOOL_DISK("an agent's spool disk slow", Role.SLOW_DISK, Action.SLOW, 1, 8, 14),

  PAUSE_SERVER("SIGSTOP of a server, short", Role.SERVER, Action.PAUSE, 1, 1, 12),
  PAUSE_AGENT("SIGSTOP of an agent", Role.AGENT, Action.PAUSE, 1, 1, 20),
  PAUSE_BROKER("SIGSTOP of the broker", Role.BROKER, Action.PAUSE, 1, 1, 15),
  RESTART_AGENT("restart of an agent (SIGTERM)", Role.AGENT, Action.TERMINATE, 1, 0, 0),
  BROKER_AWAY("broker away (SIGTERM)", Role.BROKER, Action.TERMINATE, 1, 15, 40),
  KILL_NAME_SERVER("kill -9 of the name server", Role.NAME_SERVER, Action.KILL, 1, 0, 15),
  KILL_ELASTICSEARCH("kill -9 of Elasticsearch", Role.ELASTICSEARCH, Action.KILL, 1, 0, 3),
  KILL_PROMETHEUS("kill -9 of Prometheus", Role.PROMETHEUS, Action.KILL, 1, 0, 8),

  KILL_MASTER("kill -9 of a master, with failover", Role.MASTER, Action.KILL, 1, 20, 30),
  PAUSE_MASTER("SIGSTOP of a master, with failover", Role.MASTER, Action.PAUSE, 1, 20, 30),
  KILL_REPLICA("kill -9 of a replica", Role.REPLICA, Action.KILL, 1, 0, 20),
  PAUSE_REPLICA("SIGSTOP of a replica", Role.REPLICA, Action.PAUSE, 1, 5, 20),
  PAUSE_REPLICAS(
      "SIGSTOP of all replicas but the master",
      Role.REPLICA,
      Action.PAUSE,
      ChaosInstallation.REPLICAS - 1,
      20,
      30),
  KILL_CONTROLLER("a controller away", Role.CONTROLLER, Action.KILL, 1, 5, 20),
  ROLL_BROKERS(
      "rolling restart of all brokers",
      Role.ALL_BROKERS,
      Action.ROLL,
      ChaosInstallation.BROKERS,
      0,
      0),
  UNCONFIRMED_TAIL(
      "a master comes back with an unconfirmed tail",
      Role.REPLICATED,
      Action.FORK,
      ChaosInstallation.REPLICAS,
      20,
      30),
  CUT_REPLICA("partition between master and replica", Role.REPLICA, Action.CUT, 1, 5, 25),
  CUT_MASTER(
      "partition of a master from replicas and controllers", Role.MASTER, Action.CUT, 1, 20, 30),

  STEP_CLOCKS("wall clocks of an agent and a server stepped", Role.CLOCK, Action.STEP, 2, 5, 10),
  TRUNCATE_TRACE_LOG("the trace log truncated in place", Role.TRACE_LOG, Action.TRUNCATE, 1, 0, 0),
  SLOW_BROKER_DISK("a broker's disk slow", Role.BROKER_DISK, Action.SLOW, 1, 10, 16),
  POWER_LOSS("power lost under an agent's and a broker's disk", Role.DISK, Action.POWER, 2, 0, 10);

  /** How many a short run begins with. */
  static final int ESSENTIAL = 10;

  /** Which program it happens to. */
  enum Role {
    SERVER,
    AGENT,
    /** The one without replicas. */
    BROKER,
    /** Of the replicated broker, at this time. */
    MASTER,
    /** Of the replicated broker, without the master. */
    REPLICA,
    /** The replicated broker: its master first. */
    REPLICATED,
    ALL_BROKERS,
    CONTROLLER,
    NAME_SERVER,
    ELASTICSEARCH,
    PROMETHEUS,
    SPOOL_DISK,
    SLOW_DISK,
    /** Of the broker without replicas. */
    BROKER_DISK,
    /** Each that can lose power. */
    DISK,
    /** Agents and servers, in turn. */
    CLOCK,
    /** Of the agent that follows it. */
    TRACE_LOG,
    ROUTING_FILE
  }

  /** What happens, and with what it is ended. */
  enum Action {
    /** Ended by SIGKILL; started again. */
    KILL,
    /** Asked to end by SIGTERM; started again. */
    TERMINATE,
    /** Stopped by SIGSTOP; resumed. */
    PAUSE,
    /** One after the other is asked to end and started again. */
    ROLL,
    /** The followers stop; the master dies with what they lack, and they go on; it comes back. */
    FORK,
    /** Open connections get no packets, new ones fail; as before. */
    CUT,
    /** The disk has no room; freed. */
    FILL,
    /** The disk writes less than is sent; as before. */
    SLOW,
    /** What was not forced to the disks is gone, and the programs with it; started again. */
    POWER,
    /** Forward by more than a day, back and forward by minutes; right again. */
    STEP,
    /** Cut to nothing once it is read; nothing to end. */
    TRUNCATE,
    /** The routing file says other queues; as before. */
    REROUTE
  }

  private final String label;
  private final Role role;
  private final Action action;
  private final int targets;
  private final int minSeconds;
  private final int maxSeconds;

  FaultKind(String label, Role role, Action action, int targets, int minSeconds, int maxSeconds) {
    this.label = label;
    this.role = role;
    this.action = action;
    this.targets = targets;
    this.minSeconds = minSeconds;
    this.maxSeconds = maxSeconds;
  }

  /** Whether a short run has it. */
  boolean isEssential() {
    return List.of(values()).indexOf(this) < ESSENTIAL;
  }

  String label() {
    return label;
  }

  Role role() {
    return role;
  }

  Action action() {
    return action;
  }

  /** Whether it is to do with a file or a disk of a program that itself goes on. */
  boolean sparesPrograms() {
    return role == Role.SPOOL_DISK
        || role == Role.SLOW_DISK
        || role == Role.BROKER_DISK
        || role == Role.CLOCK
        || role == Role.TRACE_LOG
        || role == Role.ROUTING_FILE
        || action == Action.CUT;
  }

  /** Whether it can be done while another fault has to do with the program itself. */
  boolean needsNoProgram() {
    return role == Role.SPOOL_DISK || role == Role.ROUTING_FILE;
  }

  /** Whether it needs a broker with replicas, and their controllers. */
  boolean needsReplicas() {
    return switch (role) {
      case MASTER, REPLICA, REPLICATED, ALL_BROKERS, CONTROLLER -> true;
      default -> false;
    };
  }

  /** Whether another replica has to become the master while it lasts. */
  boolean needsFailover() {
    return role == Role.MASTER || role == Role.REPLICATED;
  }

  /** How many programs it happens to at once. */
  int targets() {
    return targets;
  }

  /** Shortest time until it is ended. */
  int minSeconds() {
    return minSeconds;
  }

  /** Longest time until it is ended. */
  int maxSeconds() {
    return maxSeconds;
  }

  /** Whether others have to take over while it lasts: the recovery counts from its begin. */
  boolean isTakenOver() {
    return role == Role.SERVER && this != PAUSE_SERVER;
  }
}
