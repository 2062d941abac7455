package org.traceetl.perf.systest.chaos;

import java.util.List;

/** The kinds of faults. A short run consists of the first ten. */
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
  OUTAGE(
      "broker away, then an agent for longer and a server",
      Role.BROKER_AND_CLIENTS,
      Action.OUTAGE,
      3,
      8,
      14),
  ELASTICSEARCH_AWAY("Elasticsearch away", Role.ELASTICSEARCH, Action.KILL, 1, 30, 60),
  FILL_SPOOL_DISK("an agent's spool disk full", Role.SPOOL_DISK, Action.FILL, 1, 8, 20),
  SCALE("scaling 3 servers to 1 and back", Role.SERVER, Action.TERMINATE, 2, 10, 20),
  SERVERS_AWAY(
      "kill -9 of all servers", Role.SERVER, Action.KILL, ChaosInstallation.SERVERS, 5, 10),
  REROUTE(
      "other queues for applications",
      Role.ROUTING_FILE,
      Action.REROUTE,
      ChaosInstallation.AGENTS,
      5,
      15),
  SLOW_SPOOL_DISK("an agent's spool disk slow", Role.SLOW_DISK, Action.SLOW, 1, 8, 14),

  RESTART_SERVER("restart of a server (SIGTERM)", Role.SERVER, Action.TERMINATE, 1, 0, 0),
  KILL_BROKER("kill -9 of the broker", Role.BROKER, Action.KILL, 1, 0, 5),
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
      "a master returns with an unconfirmed tail",
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
  POWER_LOSS("power lost under an agent's and a broker's disk", Role.DISK, Action.POWER, 2, 0, 10),
  ADD_EDGE_QUEUE(
      "one more queue of half-edges on each broker",
      Role.EDGE_TOPICS,
      Action.ADD_QUEUE,
      ChaosInstallation.BROKERS,
      0,
      0),
  RULES(
      "one more or one fewer dimension of an application",
      Role.RULES_FILE,
      Action.CHANGE_RULES,
      ChaosInstallation.SERVERS,
      (int) ChangingRulesFile.SWITCH_AFTER.toSeconds() + 5,
      (int) ChangingRulesFile.SWITCH_AFTER.toSeconds() + 15);

  /** The number of kinds in a short run. */
  static final int ESSENTIAL = 10;

  enum Role {
    SERVER,
    AGENT,
    /** The broker without replicas. */
    BROKER,
    /** The broker without replicas, an agent and a server. */
    BROKER_AND_CLIENTS,
    /** The current master of the replicated broker. */
    MASTER,
    /** A replica that is not the master. */
    REPLICA,
    /** The replicated broker, its master first. */
    REPLICATED,
    ALL_BROKERS,
    CONTROLLER,
    NAME_SERVER,
    ELASTICSEARCH,
    PROMETHEUS,
    SPOOL_DISK,
    SLOW_DISK,
    /** The disk of the broker without replicas. */
    BROKER_DISK,
    /** Each disk that can lose power. */
    DISK,
    /** The clocks of agents and servers, in turn. */
    CLOCK,
    /** The trace log of the agent that follows it. */
    TRACE_LOG,
    ROUTING_FILE,
    RULES_FILE,
    /** The topics of half-edges and of their journal, on all brokers. */
    EDGE_TOPICS
  }

  /** What a fault does, and how it ends. */
  enum Action {
    /** SIGKILL; ends with a start. */
    KILL,
    /**
     * Kills the broker. When it starts again, kills the agent and the server, which are away for
     * some seconds more; ends with their start.
     */
    OUTAGE,
    /** SIGTERM; ends with a start. */
    TERMINATE,
    /** SIGSTOP; ends with SIGCONT. */
    PAUSE,
    /** Restarts the targets one after the other. */
    ROLL,
    /**
     * Pauses the followers, kills the master with messages that they lack, and resumes them; ends
     * with the start of the master.
     */
    FORK,
    /** Open connections get no packets, new ones fail; ends with the partition. */
    CUT,
    /** The disk is full; ends with free space. */
    FILL,
    /** The disk writes more slowly than data arrives; ends with the limit. */
    SLOW,
    /** Loses what was not forced to the disks, and kills their programs; ends with a start. */
    POWER,
    /**
     * Steps clocks forward by more than a day, and back and forward by minutes; ends with the right
     * time.
     */
    STEP,
    /** Truncates the file once it is read; needs no end. */
    TRUNCATE,
    /** The routing file names other queues; ends with the initial file. */
    REROUTE,
    /** Adds a queue, to which agents then send; needs no end. */
    ADD_QUEUE,
    /** The file of rules changes; ends when all servers follow it. */
    CHANGE_RULES
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

  /** Returns whether only a file or a disk fails, and the program keeps running. */
  boolean sparesPrograms() {
    return role == Role.SPOOL_DISK
        || role == Role.SLOW_DISK
        || role == Role.BROKER_DISK
        || role == Role.CLOCK
        || role == Role.TRACE_LOG
        || role == Role.ROUTING_FILE
        || role == Role.RULES_FILE
        || role == Role.EDGE_TOPICS
        || action == Action.CUT;
  }

  /** Returns whether the fault needs an installation that works. */
  boolean needsAll() {
    return action == Action.ADD_QUEUE;
  }

  /** Returns whether the fault can overlap a fault of the program itself. */
  boolean needsNoProgram() {
    return role == Role.SPOOL_DISK || role == Role.ROUTING_FILE || role == Role.RULES_FILE;
  }

  /** Returns whether the fault needs a broker with replicas, and their controllers. */
  boolean needsReplicas() {
    return switch (role) {
      case MASTER, REPLICA, REPLICATED, ALL_BROKERS, CONTROLLER -> true;
      default -> false;
    };
  }

  /** Returns whether another replica must become the master during the fault. */
  boolean needsFailover() {
    return role == Role.MASTER || role == Role.REPLICATED;
  }

  /** Returns whether agents accept spans that servers count much later. */
  boolean isOutage() {
    return this == OUTAGE || this == SERVERS_AWAY || this == BROKER_AWAY;
  }

  /**
   * Returns whether messages to a broker can take as long as the fault: the broker or the agent is
   * stopped while it has them.
   */
  boolean delaysSends() {
    return action == Action.PAUSE
            && (role == Role.AGENT || role == Role.BROKER || role == Role.MASTER)
        || this == SLOW_BROKER_DISK
        || this == UNCONFIRMED_TAIL
        || action == Action.POWER;
  }

  int targets() {
    return targets;
  }

  int minSeconds() {
    return minSeconds;
  }

  int maxSeconds() {
    return maxSeconds;
  }

  /** Returns whether other servers must take over: the recovery time starts with the fault. */
  boolean isTakenOver() {
    return role == Role.SERVER && this != PAUSE_SERVER && this != SERVERS_AWAY;
  }
}
