package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.traceetl.testkit.Program;

/**
 * Executes the plan, prints one line for each act, and measures how long the installation takes to
 * recover. Confined to the thread that lives as long as the programs.
 */
final class Director {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
  private static final long TICK_MILLIS = 100;
  private static final long PATIENCE_SECONDS = 120;
  private static final long END_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(90);

  /** Longer than the period in which servers publish a limited number of revisions. */
  private static final long RULES_LIMIT_NANOS = TimeUnit.MINUTES.toNanos(18);

  /** Offsets of a program's wall clock, applied one after the other. */
  private static final List<Duration> STEPS =
      List.of(Duration.ofHours(26), Duration.ofMinutes(-10), Duration.ofMinutes(10));

  private static final long STEP_NANOS = TimeUnit.SECONDS.toNanos(8);

  /** How long after the last append an agent's metrics show all unread bytes. */
  private static final long MEASURED_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final long TAIL_NANOS = TimeUnit.SECONDS.toNanos(4);
  private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final double RECOVERED_LAG_MESSAGES = 50;

  /** The time for which an agent and a server are away after the broker has returned. */
  private static final long LONGER_NANOS = TimeUnit.SECONDS.toNanos(8);

  private final ChaosInstallation installation;
  private final Observer observer;
  private final SpanLoad load;
  private final HttpClient http;
  private final PrintStream out;
  private final List<Active> active = new ArrayList<>();
  private final List<Outcome> outcomes = new ArrayList<>();
  private final List<Long> scaledUpMillis = new ArrayList<>();
  private final Map<Program, Long> joiningSinceNanos = new HashMap<>();
  private final List<String> surprises = new ArrayList<>();
  private final List<String> late = new ArrayList<>();
  private final List<Period> delays = new ArrayList<>();
  private final List<Period> outages = new ArrayList<>();
  private long reroutes;
  private long changesOfRules;
  private int edgeQueuesAdded;

  /** When the agents' spools were empty last, by the wall clock. */
  private long emptyMillis = System.currentTimeMillis();

  private Observation before;
  private Observation now;

  /** When a fault last began or ended; the installation's time to recover starts here. */
  private long disturbedNanos = System.nanoTime();

  Director(
      ChaosInstallation installation,
      Observer observer,
      SpanLoad load,
      HttpClient http,
      PrintStream out) {
    this.installation = installation;
    this.observer = observer;
    this.load = load;
    this.http = http;
    this.out = out;
    this.now = observer.newest();
    this.before = now;
  }

  /** A fault from its start until the recovery from it. */
  private static final class Active {
    private final PlannedFault fault;
    private final List<Program> targets;
    private final long beganNanos = System.nanoTime();

    /** When the oldest span was accepted that the broker did not have when the fault began. */
    private final long oldestMillis;

    private long dueNanos = Long.MAX_VALUE;
    private long endedNanos;
    private boolean ended;
    private List<Long> confirmedBefore;
    private long recoveredMillis = -1;

    Active(
        PlannedFault fault, List<Program> targets, List<Long> confirmedBefore, long oldestMillis) {
      this.fault = fault;
      this.targets = targets;
      this.confirmedBefore = confirmedBefore;
      this.oldestMillis = oldestMillis;
    }

    /** Starts the fault's duration. */
    void hold() {
      boolean isOver = fault.kind().action() == FaultKind.Action.OUTAGE;
      dueNanos =
          System.nanoTime() + (isOver ? 0 : TimeUnit.MILLISECONDS.toNanos(fault.holdMillis()));
    }

    /** Returns when the recovery time starts: at the fault's end or, before that, at its start. */
    long changedNanos() {
      return ended ? endedNanos : beganNanos;
    }
  }

  List<Outcome> outcomes() {
    return outcomes;
  }

  /**
   * Times from the start of a server's process until it has queues, for servers added by scaling.
   */
  List<Long> scaledUpMillis() {
    return scaledUpMillis;
  }

  /** How often the agents' routing rules were changed. */
  long reroutes() {
    return reroutes;
  }

  /** How often the servers' rules were changed. */
  long changesOfRules() {
    return changesOfRules;
  }

  /** How often a queue of half-edges was added. */
  int edgeQueuesAdded() {
    return edgeQueuesAdded;
  }

  /** Programs that ended unexpectedly or did not end on request, and faults without effect. */
  List<String> surprises() {
    return surprises;
  }

  /** Faults from which no recovery was seen while the plan waited for it. */
  List<String> late() {
    return late;
  }

  /** Times in which messages to a broker could take long. */
  List<Period> delays() {
    return delays;
  }

  /** Periods of faults of kind {@link FaultKind#OUTAGE} in which the broker was away. */
  List<Period> outages() {
    return outages;
  }

  /**
   * Executes the plan, and waits until the last fault is finished.
   *
   * @param spreadMillis the faults begin within this time, as evenly as the installation allows; 0:
   *     as soon as the plan allows
   */
  void follow(List<PlannedFault> plan, long spreadMillis) throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    for (PlannedFault fault : plan) {
      long gapNanos = TimeUnit.MILLISECONDS.toNanos(fault.gapMillis());
      long evenNanos =
          TimeUnit.MILLISECONDS.toNanos(spreadMillis * (fault.number() - 1) / plan.size());
      long beginNanos = Math.max(System.nanoTime() + gapNanos, startNanos + evenNanos);
      while (System.nanoTime() < beginNanos) {
        tick();
      }
      List<Program> targets = targets(fault);
      while (isTaken(fault.kind(), targets)) {
        tick();
        targets = targets(fault);
      }
      Active one = new Active(fault, targets, load.confirmed(), emptyMillis);
      active.add(one);
      begin(one, plan.size());
      one.hold();
      disturbedNanos = System.nanoTime();
      while (!fault.overlaps() && active.contains(one)) {
        tick();
      }
    }
    while (!active.isEmpty()) {
      tick();
    }
  }

  private List<Program> targets(PlannedFault fault) throws InterruptedException {
    if (fault.kind().role() == FaultKind.Role.BROKER_AND_CLIENTS) {
      return installation.brokerAndClients(fault.target());
    }
    List<Program> candidates = installation.programs(fault.kind().role());
    List<Program> targets = new ArrayList<>();
    // The order of a whole replica set shows which replica is the master.
    int first = fault.kind().role() == FaultKind.Role.REPLICATED ? 0 : fault.target();
    for (int i = 0; i < Math.min(fault.kind().targets(), candidates.size()); i++) {
      targets.add(candidates.get((first + i) % candidates.size()));
    }
    return targets;
  }

  /** Returns whether an active fault uses one of the programs, the disk or the file. */
  private boolean isTaken(FaultKind kind, List<Program> targets) {
    if (kind.needsAll()) {
      return !active.isEmpty();
    }
    for (Active other : active) {
      if (other.ended && !(other.fault.kind().needsReplicas() && kind.needsReplicas())) {
        continue;
      }
      FaultKind otherKind = other.fault.kind();
      if (otherKind.needsReplicas() && kind.needsReplicas()) {
        return true; // one at a time: otherwise the master and the in-sync replicas are unknown
      }
      boolean sameThing =
          otherKind.role() == kind.role() || !(otherKind.needsNoProgram() || kind.needsNoProgram());
      if (sameThing && other.targets.stream().anyMatch(targets::contains)) {
        return true;
      }
    }
    return false;
  }

  private void begin(Active one, int of) throws IOException, InterruptedException {
    FaultKind kind = one.fault.kind();
    say(
        "#%d/%d  %s: %s%s",
        one.fault.number(),
        of,
        kind.label(),
        names(one.targets),
        one.fault.holdMillis() == 0
            ? ""
            : String.format(Locale.ROOT, ", for %.1f s", one.fault.holdMillis() / 1e3));
    switch (kind.action()) {
      case KILL -> one.targets.forEach(Program::kill);
      case TERMINATE -> one.targets.forEach(Program::terminate);
      case PAUSE -> {
        for (Program target : one.targets) {
          target.pause();
        }
      }
      case ROLL -> roll(one);
      case OUTAGE -> outage(one);
      case FORK -> fork(one);
      case CUT -> {
        if (kind == FaultKind.CUT_MASTER) {
          installation.rocketMq().cutMaster();
        } else {
          installation.rocketMq().cutFollower(one.targets.getFirst());
        }
      }
      case FILL -> installation.spoolDisk().fill();
      case SLOW -> disk(one).slow(one.targets.getFirst().pid());
      case POWER -> {
        // Without power, a program stops. It must stop before its disk fails: a force under way
        // could otherwise return as if it had succeeded.
        for (Program target : one.targets) {
          target.pause();
        }
        for (Program target : one.targets) {
          installation.diskOf(target).losePower();
        }
        Program.kill(one.targets);
      }
      case STEP -> step(one);
      case TRUNCATE -> truncate();
      case ADD_QUEUE -> addEdgeQueue();
      case REROUTE -> {
        installation.routingFile().change(one.fault.target());
        reroutes++;
      }
      case CHANGE_RULES -> {
        observer.others().begin();
        installation.rulesFile().change();
        changesOfRules++;
      }
    }
  }

  /** Restarts the brokers one by one, each when the replicas are in sync again. */
  private void roll(Active one) throws IOException, InterruptedException {
    for (Program target : one.targets) {
      target.terminate();
      long limitNanos = System.nanoTime() + END_LIMIT_NANOS;
      while (target.isRunning() && System.nanoTime() < limitNanos) {
        tick();
      }
      if (target.isRunning()) {
        surprise(target.name() + " did not end within 90 s of SIGTERM, and was killed");
        target.kill();
      }
      target.start();
      say("    %s restarted", target.name());
      // The set of in-sync replicas may still contain the replica that was just stopped.
      long soonestNanos = System.nanoTime() + SETTLED_NANOS;
      limitNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
      do {
        tick();
      } while (System.nanoTime() < soonestNanos
          || (!installation.rocketMq().isInSync() && System.nanoTime() < limitNanos));
    }
  }

  private void outage(Active one) throws IOException, InterruptedException {
    Program broker = one.targets.getFirst();
    List<Program> clients = one.targets.subList(1, one.targets.size());
    long fromMillis = System.currentTimeMillis();
    broker.kill();
    tickUntil(one.beganNanos + TimeUnit.MILLISECONDS.toNanos(one.fault.holdMillis()));
    Program.kill(clients);
    broker.start();
    outages.add(new Period(fromMillis, System.currentTimeMillis()));
    say("    %s restarted, %s killed", broker.name(), names(clients));
    tickUntil(System.nanoTime() + LONGER_NANOS);
    for (Program client : clients) {
      client.start();
    }
  }

  private LoopDisk disk(Active one) {
    return installation.diskOf(one.targets.getFirst());
  }

  private void step(Active one) throws IOException, InterruptedException {
    for (Program target : one.targets) {
      if (!installation.clocks().canStep(target)) {
        surprise(target.name() + " does not have the library that steps its clock");
      }
    }
    for (Duration ahead : STEPS) {
      for (Program target : one.targets) {
        installation.clocks().step(target, ahead);
      }
      say("    %s: the clock is at %+d min", names(one.targets), ahead.toMinutes());
      tickUntil(System.nanoTime() + STEP_NANOS);
    }
  }

  /** Truncates the trace log after the agent has read all of it: unread lines would be lost. */
  private void truncate() throws IOException, InterruptedException {
    TraceLog traceLog = load.traceLog();
    traceLog.hold();
    try {
      long heldNanos = System.nanoTime();
      long limitNanos = heldNanos + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
      boolean read = false;
      while (!read && System.nanoTime() < limitNanos) {
        tick();
        read =
            now.askedNanos() - heldNanos > MEASURED_NANOS && now.agentsWork() && now.unread() == 0;
      }
      if (read) {
        traceLog.truncate();
      } else {
        surprise("the trace log was not truncated, because the agent did not read all of it");
      }
    } finally {
      traceLog.release();
    }
  }

  /** Adds a queue, and waits until all agents send half-edges to it. */
  private void addEdgeQueue() throws IOException, InterruptedException {
    double before = Collections.max(installation.edgeLists(http));
    installation.addEdgeQueue();
    edgeQueuesAdded++;
    long limitNanos = System.nanoTime() + ChaosInstallation.EDGES_LIMIT.toNanos();
    while (Collections.min(installation.edgeLists(http)) <= before) {
      if (System.nanoTime() > limitNanos) {
        surprise("agents have no list with the added queue of half-edges");
        return;
      }
      tick();
    }
  }

  private void tickUntil(long nanos) throws IOException, InterruptedException {
    while (System.nanoTime() < nanos) {
      tick();
    }
  }

  /** Leaves a dead master with messages that its followers do not have. */
  private void fork(Active one) throws IOException, InterruptedException {
    Program master = one.targets.getFirst();
    List<Program> followers = one.targets.subList(1, one.targets.size());
    for (Program follower : followers) {
      follower.pause();
    }
    tickUntil(System.nanoTime() + TAIL_NANOS);
    master.kill();
    for (Program follower : followers) {
      follower.resume();
    }
  }

  private void tick() throws IOException, InterruptedException {
    Thread.sleep(TICK_MILLIS);
    Observation newest = observer.newest();
    if (newest != now) {
      before = now;
      now = newest;
      if (now.complete() && now.spooled() == 0) {
        long agoNanos = System.nanoTime() - now.askedNanos();
        emptyMillis = System.currentTimeMillis() - TimeUnit.NANOSECONDS.toMillis(agoNanos);
      }
    }
    for (Active one : List.copyOf(active)) {
      if (!one.ended && System.nanoTime() >= one.dueNanos) {
        tryToEnd(one);
      }
      lookForRecovery(one);
    }
    lookForJoined();
    lookForSurprises();
  }

  private void tryToEnd(Active one) throws IOException, InterruptedException {
    FaultKind.Action action = one.fault.kind().action();
    if (action == FaultKind.Action.TERMINATE && one.targets.stream().anyMatch(Program::isRunning)) {
      if (System.nanoTime() - one.beganNanos < END_LIMIT_NANOS) {
        return;
      }
      surprise(names(one.targets) + " did not end within 90 s of SIGTERM, and was killed");
      Program.kill(one.targets);
    }
    if (action == FaultKind.Action.CHANGE_RULES && !rulesAreFollowed(one)) {
      if (System.nanoTime() - one.beganNanos < RULES_LIMIT_NANOS) {
        return;
      }
      surprise("the change of rules of #" + one.fault.number() + " had no effect");
    }
    if (one.fault.kind().needsFailover()
        && installation.rocketMq().master() == one.targets.getFirst()) {
      if (System.nanoTime() - one.beganNanos < END_LIMIT_NANOS) {
        return;
      }
      surprise("no other replica became the master within 90 s of #" + one.fault.number());
    }
    switch (action) {
      case KILL, TERMINATE -> {
        for (Program target : one.targets) {
          target.start();
          if (one.fault.kind() == FaultKind.SCALE) {
            joiningSinceNanos.put(target, System.nanoTime());
          }
        }
      }
      case PAUSE -> {
        for (Program target : one.targets) {
          target.resume();
        }
      }
      case ROLL, OUTAGE -> {} // all of them were started
      case FORK -> one.targets.getFirst().start();
      case CUT -> installation.healNetwork();
      case FILL -> installation.spoolDisk().free();
      case SLOW -> {
        disk(one).restore();
        if (one.fault.kind() == FaultKind.SLOW_SPOOL_DISK) {
          say("    %d requests were accepted meanwhile", confirmedSince(one));
        }
      }
      case POWER -> {
        for (Program target : one.targets) {
          installation.diskOf(target).regainPower();
          target.start();
        }
      }
      case STEP -> {
        for (Program target : one.targets) {
          installation.clocks().step(target, Duration.ZERO);
        }
      }
      // The writer appends to the file again; the queue and the rules stay.
      case TRUNCATE, ADD_QUEUE, CHANGE_RULES -> {}
      case REROUTE -> {
        installation.routingFile().restore();
        reroutes++;
      }
    }
    one.ended = true;
    one.endedNanos = System.nanoTime();
    disturbedNanos = one.endedNanos;
    one.confirmedBefore = load.confirmed();
    if (one.fault.kind().delaysSends()) {
      delays.add(new Period(one.oldestMillis, System.currentTimeMillis()));
    }
    say(
        "    %s %s after %.1f s",
        names(one.targets),
        switch (action) {
          case KILL, TERMINATE, ROLL, OUTAGE, POWER -> "restarted";
          case FORK -> "restarted, the old master with its tail";
          case CUT -> "reconnected";
          case PAUSE -> "resumed";
          case FILL -> "has room again";
          case SLOW -> "writes at full speed again";
          case STEP -> "has the correct time again";
          case TRUNCATE -> "follows the trace log from its start";
          case ADD_QUEUE -> "got one more queue of half-edges";
          case REROUTE -> "have the initial routing rules again";
          case CHANGE_RULES -> "follow the changed rules";
        },
        (one.endedNanos - one.beganNanos) / 1e9);
    if (action == FaultKind.Action.CHANGE_RULES) {
      say("    %s", observer.others().compared());
    }
  }

  /** Returns whether an observation since the change shows its effect. */
  private boolean rulesAreFollowed(Active one) {
    return now.askedNanos() > one.beganNanos && installation.rulesFile().isFollowed(now);
  }

  /** Finishes the fault when the installation works as before, or when the time limit expires. */
  private void lookForRecovery(Active one) throws InterruptedException {
    if (!one.ended && !one.fault.kind().isTakenOver()) {
      return;
    }
    String missing = missing(one);
    boolean works = missing == null;
    if (works && one.recoveredMillis < 0) {
      long fromNanos = one.fault.kind().isTakenOver() ? one.beganNanos : one.endedNanos;
      one.recoveredMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - fromNanos);
      say("    recovered from #%d after %.1f s", one.fault.number(), one.recoveredMillis / 1e3);
    }
    boolean patient =
        System.nanoTime() - disturbedNanos < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    if (!one.ended || (!works && patient)) {
      return;
    }
    if (!works) {
      late(
          String.format(
              Locale.ROOT,
              "no recovery from #%d (%s) seen within %d s after the last act: %s; %s",
              one.fault.number(),
              one.fault.kind().label(),
              PATIENCE_SECONDS,
              missing,
              now));
    }
    outcomes.add(
        new Outcome(
            one.fault.kind(),
            TimeUnit.NANOSECONDS.toMillis(one.endedNanos - one.beganNanos),
            one.recoveredMillis));
    active.remove(one);
  }

  /** Returns what does not work yet, or null if all does. */
  private String missing(Active one) throws InterruptedException {
    if (before.askedNanos() <= one.changedNanos()) {
      return "no observation since the last act";
    }
    if (!now.eachQueueIsOwnedOnce()) {
      return "some queue does not have exactly one owner";
    }
    if (!now.agentsWork()) {
      return "an agent is not ready";
    }
    if (now.lag() > RECOVERED_LAG_MESSAGES) {
      return "servers lag";
    }
    if (now.calls() <= before.calls()) {
      return "the counts on the pages do not grow";
    }
    if (!isConfirming(one)) {
      return "an agent has not confirmed a request since the last act";
    }
    if (one.fault.kind().needsReplicas() && !installation.rocketMq().isInSync()) {
      return "not all replicas are in sync";
    }
    return one.ended && !targetsWork(one) ? names(one.targets) + " not ready" : null;
  }

  /** Returns the requests that the fault's agent has confirmed since the fault began or ended. */
  private long confirmedSince(Active one) throws InterruptedException {
    int agent = installation.programs(FaultKind.Role.AGENT).indexOf(one.targets.getFirst());
    return load.confirmed().get(agent) - one.confirmedBefore.get(agent);
  }

  /** Returns whether each agent has confirmed a request since the fault began or ended. */
  private boolean isConfirming(Active one) {
    List<Long> confirmed = load.confirmed();
    for (int i = 0; i < confirmed.size(); i++) {
      if (confirmed.get(i) <= one.confirmedBefore.get(i)) {
        return false;
      }
    }
    return true;
  }

  private boolean targetsWork(Active one) throws InterruptedException {
    for (Program target : one.targets) {
      if (!target.isReady(http)) {
        return false;
      }
    }
    return true;
  }

  private void lookForJoined() {
    joiningSinceNanos
        .entrySet()
        .removeIf(joining -> {
          Program server = joining.getKey();
          if (!server.isRunning()) {
            return true;
          }
          if (now.askedNanos() < joining.getValue() || now.queuesOf(server).isEmpty()) {
            return false;
          }
          long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - joining.getValue());
          scaledUpMillis.add(millis);
          say(
              "    %s has %d queues, %.1f s after its process started",
              server.name(), now.queuesOf(server).size(), millis / 1e3);
          return true;
        });
  }

  private void lookForSurprises() throws IOException {
    for (Program program : installation.all()) {
      boolean meant =
          active.stream()
              .anyMatch(one ->
                  !one.ended
                      && !one.fault.kind().sparesPrograms()
                      && one.targets.contains(program));
      if (!meant && !program.isRunning()) {
        surprise(program.name() + " ended unexpectedly with exit code " + program.exitCode());
        program.start();
      }
    }
  }

  private void surprise(String what) {
    surprises.add(what);
    say("    !! %s", what);
  }

  private void late(String what) {
    late.add(what);
    say("    !! %s", what);
  }

  private static String names(List<Program> programs) {
    return String.join(
        ", ",
        programs.stream().sorted(Comparator.comparing(Program::name)).map(Program::name).toList());
  }

  private void say(String format, Object... arguments) {
    out.println(
        LocalTime.now().format(TIME) + "  " + String.format(Locale.ROOT, format, arguments));
    out.flush();
  }
}
