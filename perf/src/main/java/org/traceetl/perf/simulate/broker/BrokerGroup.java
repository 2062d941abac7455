package org.traceetl.perf.simulate.broker;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.traceetl.perf.simulate.world.Durable;
import org.traceetl.perf.simulate.world.World;

/**
 * A broker name: a master, its replicas, and what the controllers know of them. The classes named
 * are those of RocketMQ 5.5.0.
 */
final class BrokerGroup implements Durable {
  /** The controllers' node in the network. They act as one that does not fail. */
  static final String CONTROLLERS = "controllers";

  /** BrokerConfig.controllerHeartBeatTimeoutMills. */
  private static final long HEARTBEAT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** MessageStoreConfig.haMaxTimeSlaveNotCatchup. */
  private static final long MOST_LAG_NANOS = TimeUnit.SECONDS.toNanos(15);

  /**
   * MessageStoreConfig.haHousekeepingInterval, after which a silent connection is closed. Until
   * then AutoSwitchHAConnection takes a replica that got all data for one that has it.
   */
  private static final long HOUSEKEEPING_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** AutoSwitchHAClient looks for its master this often; until then a new master is alone. */
  private static final long MOST_CONNECT_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** ReplicasManager.handleSlaveSynchronize calls SlaveSynchronize.syncAll after this time. */
  private static final long OFFSET_COPY_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** BrokerConfig.flushConsumerOffsetInterval. */
  private static final long OFFSET_WRITE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** ClientHousekeepingService.scanExceptionChannel. */
  private static final long MEMBER_SCAN_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** NamesrvConfig.scanNotActiveBrokerInterval and BrokerLiveInfo: a silent broker is removed. */
  private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(120);

  private static final long DELETE_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long MOST_STALL_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long TICK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String name;
  private final World world;
  private final Wire wire;
  private final NameServer names;
  private final ClusterOptions options;
  private final Conditions conditions;
  private final List<Replica> replicas = new ArrayList<>();

  /** The master of the last election; may be down, or unable to reach the controllers. */
  private Replica master;

  /** By number: the master that a replica copies; null if it must follow again. */
  private final Replica[] followed;

  /** By number: when the connection to the followed master opens. */
  private final long[] connectNanos;

  /**
   * By number: whether the replica is registered with the name server since its start. It registers
   * when the controllers name a master: ReplicasManager.startBasicService.
   */
  private final boolean[] registered;

  /** By number: whether a copy is under way to the replicas of this master. */
  private final boolean[] copying;

  /** By number: when the replica last had all that the master had. */
  private final long[] caughtUpNanos;

  /** By number: how long a replica lags behind. */
  private final long[] lagNanos;

  /** By number: since when it is down without having closed its connections; 0 if it is not. */
  private final long[] silentNanos;

  /**
   * The newest message whose sender received SEND_OK; null before the first, and after its loss.
   */
  private Message answered;

  /** The master that confirmed it. */
  private Replica answeredBy;

  private int confirmedLosses;
  private int unflushedLosses;
  private Consumer<Message> observer = message -> {};
  private long masterHeardNanos;
  private boolean readOnly;
  private boolean electing;
  private long ticks;

  BrokerGroup(
      String name,
      World world,
      Wire wire,
      NameServer names,
      Topics topics,
      ClusterOptions options,
      int firstAddress) {
    this.name = name;
    this.world = world;
    this.wire = wire;
    this.names = names;
    this.options = options;
    conditions = new Conditions(world.random());
    int count = options.replicas();
    followed = new Replica[count];
    connectNanos = new long[count];
    registered = new boolean[count];
    copying = new boolean[count];
    caughtUpNanos = new long[count];
    lagNanos = new long[count];
    silentNanos = new long[count];
    for (int number = 0; number < count; number++) {
      replicas.add(new Replica(world, this, number, count, topics, firstAddress + number));
    }
    master = replicas.getFirst();
    lead();
    register();
  }

  /** Lets all replicas follow the master, and have all that it has. */
  void lead() {
    master.lead();
    for (Replica replica : replicas) {
      if (replica != master) {
        follow(replica);
        connectNanos[replica.number] = 0;
        replica.copyFrom(master, Long.MAX_VALUE);
        replica.offsets.copyFrom(master.offsets);
        master.inSync(replica, true);
      }
    }
    Arrays.fill(registered, true);
  }

  /** Writes what the last master has: the controllers elect one that has all confirmed messages. */
  @Override
  public void write(DataOutputStream to) throws IOException {
    master.store().write(to);
    master.offsets.write(to);
  }

  /** Reads what {@link #write} wrote, before the replicas {@link #lead follow}. */
  @Override
  public void read(DataInputStream from) throws IOException {
    master.store().read(from);
    master.offsets.read(from);
  }

  void writeAges(DataOutputStream to) throws IOException {
    master.store().writeAges(to);
  }

  void readAges(DataInputStream from) throws IOException {
    master.store().readAges(from);
  }

  String name() {
    return name;
  }

  Conditions conditions() {
    return conditions;
  }

  ClusterOptions options() {
    return options;
  }

  List<Replica> replicas() {
    return replicas;
  }

  /** Returns the master of the last election. */
  Replica master() {
    return master;
  }

  /** MessageStoreConfig.minInSyncReplicas. */
  int minInSync() {
    return replicas.size() > 1 ? 2 : 1;
  }

  private boolean isControlled() {
    return replicas.size() > 1;
  }

  // Each second

  void tick() {
    ticks++;
    long now = world.nanos();
    if (isControlled()) {
      control(now);
    }
    if (world.random().nextBoolean()) {
      // Brokers inform the name server of a change within a second or two.
      register();
    }
    for (Replica replica : replicas) {
      if (!replica.isUp()) {
        continue;
      }
      replica.endPulls();
      if (every(OFFSET_WRITE_NANOS)) {
        replica.offsets.write();
      }
      expire(replica, now);
      if (every(DELETE_NANOS)) {
        replica.deleteOld(now - options.retention().toNanos());
      }
      if (every(OFFSET_COPY_NANOS) && followed[replica.number] != null) {
        copyOffsets(replica, followed[replica.number]);
      }
    }
  }

  private boolean every(long nanos) {
    return ticks % (nanos / TICK_NANOS) == 0;
  }

  private void expire(Replica replica, long now) {
    long expiryNanos = every(MEMBER_SCAN_NANOS) ? options.memberExpiry().toNanos() : Long.MAX_VALUE;
    replica.members.expire(now, expiryNanos).forEach(group -> membersChanged(replica, group));
  }

  private void copyOffsets(Replica replica, Replica from) {
    if (from.isMaster() && connected(replica, from)) {
      replica.offsets.copyFrom(from.offsets);
    }
  }

  /** Adds a member of a group, as a heartbeat does: ConsumerManager.registerConsumer. */
  void heartbeat(Replica replica, String group, SimulatedConsumer consumer) {
    if (replica.members.heartbeat(group, consumer, world.nanos())) {
      membersChanged(replica, group);
    }
  }

  /** Removes a member: ConsumerManager.unregisterConsumer. */
  void leave(Replica replica, String group, String id) {
    if (replica.members.remove(group, id)) {
      membersChanged(replica, group);
    }
  }

  /** The master loses a member's connection: the member returns with its next heartbeat. */
  void forgetMember() {
    List<SimulatedConsumer> known = master.members.consumers();
    if (!known.isEmpty()) {
      SimulatedConsumer forgotten = known.get(world.random().nextInt(known.size()));
      leave(master, forgotten.group(), forgotten.id());
    }
  }

  private void membersChanged(Replica replica, String group) {
    for (SimulatedConsumer consumer : replica.members.consumers(group)) {
      boolean lost =
          conditions.happens(Misbehaviour.LOST_NOTICE)
              || wire.isCut(replica.address, consumer.host());
      if (!lost) {
        world.after(conditions.latencyNanos(), consumer::membersChanged);
      }
    }
  }

  // Replicas

  private void control(long now) {
    if (master.isUp() && wire.isOpen(master.address, CONTROLLERS)) {
      masterHeardNanos = now;
    }
    boolean closed = !master.isUp() && silentNanos[master.number] == 0;
    // ControllerManager elects at once if the channel of the master is closed.
    if (closed || now - masterHeardNanos > HEARTBEAT_TIMEOUT_NANOS) {
      elect(null);
    }
    for (Replica replica : replicas) {
      if (replica == master || !replica.isUp()) {
        continue;
      }
      boolean known = master.isMaster() || isSilent(master);
      if (known
          && followed[replica.number] != master
          && wire.isOpen(replica.address, CONTROLLERS)) {
        follow(replica);
      }
    }
    keepInSync(now);
    replicate(master);
  }

  private void keepInSync(long now) {
    if (!master.isMaster() || !wire.isOpen(master.address, CONTROLLERS)) {
      return; // the set changes only with the controllers' consent
    }
    for (Replica replica : replicas) {
      if (replica == master) {
        continue;
      }
      boolean connected = followed[replica.number] == master && connected(replica, master);
      if (connected) {
        caughtUpNanos[replica.number] =
            Math.max(caughtUpNanos[replica.number], master.caughtUpNanos(replica));
      }
      boolean recent =
          now - caughtUpNanos[replica.number] <= (connected ? MOST_LAG_NANOS : HOUSEKEEPING_NANOS);
      if (connected && recent && master.hasCaughtUp(replica)) {
        if (!master.hasInSync(replica)) {
          master.inSync(replica, true); // AutoSwitchHAService.maybeExpandInSyncStateSet
        }
      } else if (master.hasInSync(replica)
          && (!replica.isUp() && silentNanos[replica.number] == 0 || !recent)) {
        // maybeShrinkSyncStateSet; removeConnection if the replica's process ended. If it was the
        // last one, the master alone confirms what waits: GroupTransferService.doWaitTransfer.
        master.inSync(replica, false);
      }
    }
  }

  private boolean connected(Replica replica, Replica to) {
    return replica.isUp()
        && connectNanos[replica.number] <= world.nanos()
        && wire.isOpen(replica.address, to.address);
  }

  private void follow(Replica replica) {
    followed[replica.number] = master;
    registered[replica.number] = true;
    caughtUpNanos[replica.number] = world.nanos();
    connectNanos[replica.number] = world.nanos() + world.random().nextLong(MOST_CONNECT_NANOS);
    replica.follow(master);
  }

  /** Starts a copy to the replicas of a master, unless one is under way. */
  void replicateSoon(Replica from) {
    if (copying[from.number]) {
      return;
    }
    copying[from.number] = true;
    world.after(
        conditions.latencyNanos(),
        () -> {
          copying[from.number] = false;
          replicate(from);
        });
  }

  private void replicate(Replica from) {
    if (!from.isMaster()) {
      return;
    }
    long now = world.nanos();
    for (Replica replica : replicas) {
      if (!electing
          && followed[replica.number] == from
          && replica != from
          && connected(replica, from)) {
        replica.copyFrom(from, now - lagNanos[replica.number]);
      }
    }
    from.settle();
  }

  /**
   * Elects another master among the in-sync replicas that the controllers reach
   * (enableElectUncleanMaster is false).
   *
   * @param wanted null for any
   */
  private void elect(Replica wanted) {
    List<Replica> candidates = new ArrayList<>();
    for (Replica replica : replicas) {
      boolean reachable = replica.isUp() && wire.isOpen(replica.address, CONTROLLERS);
      if (reachable && master.hasInSync(replica) && (wanted == null || wanted == replica)) {
        candidates.add(replica);
      }
    }
    if (candidates.isEmpty()) {
      return;
    }
    Replica elected = candidates.get(world.random().nextInt(candidates.size()));
    world.timeline().note(name, "master is now " + elected.address);
    followed[elected.number] = null;
    registered[elected.number] = true;
    master = elected;
    masterHeardNanos = world.nanos();
    elected.lead();
    countLoss();
    for (Replica replica : replicas) {
      // The superseded master learns it later: ReplicasManager asks the controllers.
      if (replica != elected && replica.isUp() && !replica.isMaster()) {
        followed[replica.number] = null;
      }
    }
  }

  // What is stored and confirmed

  /** Adds a receiver of each message that a master stores from now on. */
  void observe(Consumer<Message> by) {
    observer = observer.andThen(by);
  }

  void stored(Message message) {
    observer.accept(message);
  }

  /** A sender receives SEND_OK from a master. */
  void answered(Message message, Replica by) {
    if (answered == null || answered.place() < message.place() || !master.store().has(message)) {
      answered = message;
      answeredBy = by;
      countLoss();
    }
  }

  /** Counts a loss of confirmed messages: those of a log are confirmed in its order. */
  private void countLoss() {
    if (answered != null && !master.store().has(answered)) {
      world.timeline().note(name, "has lost confirmed messages");
      confirmedLosses++;
      // Its own disk has what it confirmed itself.
      unflushedLosses += answeredBy != master && master.lostByPower(answered) ? 1 : 0;
      answered = null;
    }
  }

  /** Returns how often confirmed messages were lost. */
  int confirmedLosses() {
    return confirmedLosses;
  }

  /**
   * Returns how many of these losses a new master caused that lost power before its disk had what
   * it had copied as a replica.
   */
  int unflushedLosses() {
    return unflushedLosses;
  }

  // Faults

  void crash(Replica replica, boolean silently) {
    if (replica.isUp()) {
      silentNanos[replica.number] = silently ? Math.max(1, world.nanos()) : 0;
      followed[replica.number] = null;
      replica.crash();
    }
  }

  /** Returns whether connections to a broker that is down stay open and silent. */
  boolean isSilent(Replica replica) {
    return !replica.isUp() && silentNanos[replica.number] != 0;
  }

  void start(Replica replica) {
    if (replica.isUp()) {
      return;
    }
    silentNanos[replica.number] = 0;
    registered[replica.number] = replica == master;
    replica.start();
    if (replica == master) {
      // Not replaced meanwhile. With controllers: the only one that was in sync.
      replica.lead();
      countLoss();
      Arrays.fill(followed, null);
      masterHeardNanos = world.nanos();
    }
  }

  /**
   * Replaces the master by another in-sync replica. Copies stall first for up to two seconds, so
   * that messages wait unconfirmed; a part of these is lost.
   *
   * @param most unconfirmed messages of each queue that are lost
   */
  void failOver(int most) {
    if (!isControlled() || electing || !master.isMaster()) {
      return;
    }
    List<Replica> others = new ArrayList<>(replicas);
    others.removeIf(replica -> replica == master || !replica.isUp() || !master.hasInSync(replica));
    if (others.isEmpty()) {
      return;
    }
    electing = true;
    final Replica next = others.get(world.random().nextInt(others.size()));
    final Replica last = master;
    final long stallNanos = world.random().nextLong(MOST_STALL_NANOS);
    world.after(
        stallNanos,
        () -> {
          electing = false;
          if (master == last && next.isUp() && last.hasInSync(next)) {
            next.copyExceptTail(last, world.random().nextInt(most + 1));
            world
                .timeline()
                .note(
                    name,
                    "loses %d messages, of which %d could be read"
                        .formatted(
                            last.store().end() - next.store().end(),
                            Math.max(0, last.store().readable() - next.store().end())));
            elect(next);
          }
        });
  }

  void lag(Replica replica, long nanos) {
    lagNanos[replica.number] = nanos;
  }

  /** Sets whether the broker's queues can be read only, as before they are removed. */
  void readOnly(boolean now) {
    readOnly = now;
    register();
  }

  /** Informs the name server. */
  private void register() {
    SortedMap<Long, String> addresses = new TreeMap<>();
    for (Replica replica : replicas) {
      long silent = silentNanos[replica.number];
      boolean known = replica.isUp() || silent != 0 && world.nanos() - silent < SILENT_NANOS;
      if (known && registered[replica.number] && wire.isOpen(replica.address, NameServer.NODE)) {
        addresses.put(replica == master ? NameServer.MASTER : replica.number + 1L, replica.address);
      }
    }
    names.register(name, new NameServer.Route(addresses, !readOnly));
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(name).append(conditions);
    replicas.forEach(replica -> text.append("\n  ").append(replica));
    return text.toString();
  }
}
