package org.traceetl.perf.simulate.broker;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.traceetl.perf.simulate.world.World;

/**
 * One broker process: a master or one of its replicas. The classes named are those of RocketMQ
 * 5.5.0.
 */
final class Replica {
  /** MessageStoreConfig.maxMessageSize. */
  static final int MAX_BODY_BYTES = 4 << 20;

  /** MessageStoreConfig.slaveTimeout. */
  private static final long SLAVE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** MessageStoreConfig.syncFlushTimeout. */
  private static final long FLUSH_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long SHORTEST_FLUSH_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  /** Each order of magnitude is equally probable, up to 50 ms. */
  private static final int FLUSH_DOUBLINGS = 8;

  /** With ASYNC_FLUSH: MessageStoreConfig.flushCommitLogThoroughInterval. */
  private static final long MOST_UNFLUSHED_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Where a message is stored, and whether the broker confirms it. */
  record Appended(SendStatus status, long offset) {}

  private record Waiting(long place, long offset, long untilNanos, Reply.To<Appended> to) {}

  final String address;
  final InetSocketAddress host;
  final int number;
  final BrokerGroup group;
  final GroupOffsets offsets = new GroupOffsets();
  final Members members = new Members();

  private final World world;
  private final MessageStore store;
  private final HeldPulls pulls;

  /** Sends that wait for replicas, in the order of their places. */
  private final Deque<Waiting> waiting = new ArrayDeque<>();

  private boolean deadlineArmed;
  private boolean up = true;
  private boolean master;
  private long startedAt;
  private boolean diskFull;
  private long clockErrorMillis;

  /** Whether a flush is under way. */
  private boolean flushing;

  /** The number of flushes that were made or given up. */
  private long flushes;

  /** Whether no flush begins. */
  private boolean stalled;

  /** Place of the first message lost with power since it last followed a master. */
  private long lostFrom = Long.MAX_VALUE;

  /** By number: in sync, as far as this broker knows. */
  private boolean[] inSync;

  /** By number: end of the copy of each replica. */
  private final long[] copied;

  Replica(World world, BrokerGroup group, int number, int replicas, Topics topics, int addressOf) {
    this.world = world;
    this.group = group;
    this.number = number;
    host = new InetSocketAddress(Wire.address(9, addressOf), 10_911);
    address = host.getAddress().getHostAddress() + ":" + host.getPort();
    store = new MessageStore(world, topics);
    pulls = new HeldPulls(world, store);
    inSync = new boolean[replicas];
    copied = new long[replicas];
  }

  /** Returns its messages. */
  MessageStore store() {
    return store;
  }

  boolean isUp() {
    return up;
  }

  boolean isMaster() {
    return up && master;
  }

  /** Returns a number that is another one after each start. */
  long startedAt() {
    return startedAt;
  }

  void diskFull(boolean full) {
    diskFull = full;
  }

  void stepClock(long millis) {
    clockErrorMillis += millis;
  }

  // Sends

  /**
   * Stores a message; answers when it is confirmed, refused, or its time is over.
   *
   * @param ages its user property; null if it does not have it
   */
  void append(
      LogQueue queue,
      byte[] body,
      String ages,
      long bornMillis,
      InetSocketAddress bornHost,
      Reply.To<Appended> to) {
    Conditions conditions = group.conditions();
    if (!master) {
      // HookUtils.checkBeforePutMessage: "message store is in slave mode".
      to.answer(Reply.refused(ResponseCode.SERVICE_NOT_AVAILABLE, "service not available now"));
    } else if (diskFull) {
      // HookUtils.checkBeforePutMessage: RunningFlags.isWriteable is false.
      to.answer(Reply.refused(ResponseCode.SERVICE_NOT_AVAILABLE, "the broker's disk is full"));
    } else if (body.length > MAX_BODY_BYTES) {
      // SendMessageProcessor.handlePutMessageResult.
      to.answer(Reply.refused(ResponseCode.MESSAGE_ILLEGAL, "the message is illegal"));
    } else if (conditions.happens(Misbehaviour.BUSY)) {
      to.answer(Reply.refused(ResponseCode.SYSTEM_BUSY, "[TIMEOUT_CLEAN_QUEUE]broker busy"));
    } else if (inSyncReplicas() < group.minInSync()) {
      // CommitLog.asyncPutMessage: IN_SYNC_REPLICAS_NOT_ENOUGH.
      to.answer(Reply.refused(ResponseCode.SYSTEM_ERROR, "in-sync replicas not enough"));
    } else {
      Message stored = store(queue, body, ages, bornMillis, bornHost);
      answerStored(conditions, stored, to);
    }
  }

  private void answerStored(Conditions conditions, Message stored, Reply.To<Appended> to) {
    SendStatus status = SendStatus.SEND_OK;
    if (conditions.happens(Misbehaviour.FLUSH_DISK_TIMEOUT)) {
      status = SendStatus.FLUSH_DISK_TIMEOUT;
    } else if (conditions.happens(Misbehaviour.FLUSH_SLAVE_TIMEOUT)) {
      status = SendStatus.FLUSH_SLAVE_TIMEOUT;
    } else if (conditions.happens(Misbehaviour.SLAVE_NOT_AVAILABLE)) {
      status = SendStatus.SLAVE_NOT_AVAILABLE;
    }
    if (conditions.happens(Misbehaviour.REPEATED_REQUEST)) {
      world.after(conditions.delayNanos(Misbehaviour.REPEATED_REQUEST), () -> storeAgain(stored));
    }
    if (status == SendStatus.SEND_OK) {
      long timeoutNanos = copied.length > 1 ? SLAVE_TIMEOUT_NANOS : FLUSH_TIMEOUT_NANOS;
      waiting.add(new Waiting(stored.place(), stored.offset(), world.nanos() + timeoutNanos, to));
      armDeadline();
    } else {
      to.answer(Reply.of(new Appended(status, stored.offset())));
    }
    confirm();
  }

  private void confirm() {
    if (copied.length > 1) {
      group.replicateSoon(this);
    }
    flushSoon();
    settle();
  }

  // The disk

  /**
   * Flushes what is stored now, and then what is stored meanwhile: CommitLog.GroupCommitService.
   * With ASYNC_FLUSH no one waits for the disk, and {@link #losePower} draws what it has.
   */
  private void flushSoon() {
    if (flushing || stalled || !group.options().syncFlush() || store.flushed() == store.end()) {
      return;
    }
    flushing = true;
    long number = flushes;
    long to = store.end();
    world.after(
        flushNanos(),
        () -> {
          if (number == flushes) {
            endFlush();
            store.flush(to);
            settle();
            flushSoon();
          }
        });
  }

  private long flushNanos() {
    long shortest = SHORTEST_FLUSH_NANOS << world.random().nextInt(FLUSH_DOUBLINGS);
    return shortest + world.random().nextLong(shortest);
  }

  private void endFlush() {
    flushing = false;
    flushes++;
  }

  /** Lets no further flush begin until the next start. */
  void stallFlushes() {
    stalled = true;
  }

  private void storeAgain(Message first) {
    if (isMaster() && !diskFull) {
      store(first.queue(), first.body(), first.ages(), first.bornMillis(), first.bornHost());
      confirm();
    }
  }

  private Message store(
      LogQueue queue, byte[] body, String ages, long bornMillis, InetSocketAddress bornHost) {
    long storeMillis = world.unixMillis() + clockErrorMillis;
    Message stored = store.store(queue, body, ages, bornMillis, bornHost, storeMillis, host);
    copied[number] = store.end();
    group.stored(stored);
    return stored;
  }

  /** One timer serves all sends that wait: GroupTransferService waits for one after the other. */
  private void armDeadline() {
    if (deadlineArmed || waiting.isEmpty()) {
      return;
    }
    deadlineArmed = true;
    long started = startedAt;
    world.after(
        Math.max(0, waiting.getFirst().untilNanos() - world.nanos()),
        () -> {
          if (started == startedAt) {
            deadlineArmed = false;
            expireSends(world.nanos());
            armDeadline();
          }
        });
  }

  private void expireSends(long untilNanos) {
    while (!waiting.isEmpty() && waiting.getFirst().untilNanos() <= untilNanos) {
      Waiting late = waiting.removeFirst();
      SendStatus status =
          copied.length > 1 ? SendStatus.FLUSH_SLAVE_TIMEOUT : SendStatus.FLUSH_DISK_TIMEOUT;
      late.to().answer(Reply.of(new Appended(status, late.offset())));
    }
  }

  // Replicas

  int inSyncReplicas() {
    int count = 0;
    for (boolean one : inSync) {
      count += one ? 1 : 0;
    }
    return count;
  }

  boolean hasInSync(Replica other) {
    return inSync[other.number];
  }

  /** Returns whether the other has all that is confirmed here. */
  boolean hasCaughtUp(Replica other) {
    return copied[other.number] >= store.confirmed();
  }

  /** Returns until when the other has all that was stored here: a true time, now if it has all. */
  long caughtUpNanos(Replica other) {
    return store.storedNanos(copied[other.number]);
  }

  /** Sets whether a replica must have a message before it is confirmed. */
  void inSync(Replica other, boolean now) {
    inSync[other.number] = now;
    settle();
  }

  /** Copies what the master has and this replica lacks; not what was stored after a time. */
  void copyFrom(Replica from, long storedUntilNanos) {
    store.copyFrom(from.store, storedUntilNanos);
    copiedFrom(from);
    advance(Math.min(store.end(), from.store.confirmed()));
    flushSoon();
  }

  /**
   * Copies what a master has, except its last messages that are not confirmed.
   *
   * @param most messages of each queue that are not copied
   */
  void copyExceptTail(Replica from, int most) {
    store.copyExceptTail(from.store, most);
    copiedFrom(from);
    flushSoon();
  }

  private void copiedFrom(Replica from) {
    copied[number] = store.end();
    from.copied[number] = store.end();
  }

  /** Deletes messages that were stored before a time and that no group has still to read. */
  void deleteOld(long storedBeforeNanos) {
    store.deleteOld(storedBeforeNanos, offsets::isNeeded);
  }

  /** Determines what is confirmed, and answers the sends that waited for it. */
  void settle() {
    if (!isMaster()) {
      return;
    }
    long all = store.end();
    for (int other = 0; other < inSync.length; other++) {
      if (inSync[other]) {
        all = Math.min(all, copied[other]);
      }
    }
    boolean sync = group.options().syncFlush();
    if (sync && copied.length == 1) {
      all = Math.min(all, store.flushed());
    }
    advance(all);
    // CommitLog.handleDiskFlushAndHA
    long safe = sync ? Math.min(all, store.flushed()) : all;
    while (!waiting.isEmpty() && waiting.getFirst().place() < safe) {
      Waiting done = waiting.removeFirst();
      group.answered(store.at(done.place()), this);
      done.to().answer(Reply.of(new Appended(SendStatus.SEND_OK, done.offset())));
    }
  }

  /** DefaultMessageStore.ReputMessageService.getReputEndOffset */
  private void advance(long to) {
    store.confirm(to);
    store
        .publish(group.options().readUncommitted() ? store.end() : store.confirmed())
        .forEach(pulls::arrived);
  }

  /** Becomes the master, alone in sync: AutoSwitchHAService.changeToMaster keeps what it has. */
  void lead() {
    master = true;
    Arrays.fill(inSync, false);
    inSync[number] = true;
    Arrays.fill(copied, 0);
    copied[number] = store.end();
    settle();
  }

  /** Follows a master, and cuts off what it does not have. */
  void follow(Replica leader) {
    master = false;
    expireSends(Long.MAX_VALUE);
    endFlush();
    store.cutToCommon(leader.store);
    copied[number] = store.end();
    lostFrom = Long.MAX_VALUE;
    flushSoon();
  }

  // Crash

  /** Ends at once; what it stored stays, except offsets of groups that were not written. */
  void crash() {
    up = false;
    master = false;
    startedAt = world.nanos() + 1;
    offsets.crash();
    members.clear();
    endFlush();
    closeSends();
    pulls.close();
  }

  private void closeSends() {
    List<Waiting> ended = List.copyOf(waiting);
    waiting.clear();
    ended.forEach(send -> send.to().answer(Reply.closed()));
    deadlineArmed = false;
  }

  /** Loses newest messages that the disk does not have. */
  void losePower() {
    if (!group.options().syncFlush()) {
      store.flushBefore(world.nanos() - world.random().nextLong(MOST_UNFLUSHED_NANOS));
    }
    long end = store.end();
    long readable = store.readable();
    store.losePower();
    lostFrom = store.end();
    copied[number] = store.end();
    world
        .timeline()
        .note(
            address,
            "loses %d messages, of which %d could be read"
                .formatted(end - store.end(), Math.max(0, readable - store.end())));
  }

  /** Returns whether it lost a message when it lost power, and has followed no master since. */
  boolean lostByPower(Message message) {
    return message.place() >= lostFrom;
  }

  /** Loses a queue's messages from an offset, and all that were stored after that one. */
  void loseFrom(LogQueue queue, long offset) {
    store.loseFrom(queue, offset);
    copied[number] = store.end();
  }

  void start() {
    up = true;
    startedAt = world.nanos();
    stalled = false;
    flushSoon();
  }

  // Pulls

  /** Returns messages from an offset. */
  Pulled pull(LogQueue queue, long offset, int most) {
    return store.pull(queue, offset, most, master);
  }

  /** Pulls; if there is no message, waits for one. */
  void pullOrWait(LogQueue queue, long offset, int most, long holdNanos, Reply.To<Pulled> to) {
    if (!group.conditions().happens(Misbehaviour.STUCK_PULL)) {
      pulls.pull(queue, offset, most, master, holdNanos, to);
    }
  }

  /** Answers the pulls that waited long enough. Called every second. */
  void endPulls() {
    pulls.end();
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(address);
    text.append(up ? master ? " is master:" : " is slave:" : " is down:");
    text.append(' ').append(store);
    if (master && inSync.length > 1) {
      text.append(" in_sync=").append(Arrays.toString(inSync));
    }
    if (diskFull) {
      text.append(" disk_full=true");
    }
    return text.append(" members=").append(members).toString();
  }
}
