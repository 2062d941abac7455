package org.traceetl.perf.simulate.broker;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.traceetl.perf.simulate.world.World;

/**
 * One broker process: a master or one of its replicas. Its commit log has the messages of all
 * queues in one order, in which replicas copy them. The classes named are those of RocketMQ 5.3.
 */
final class Replica {
  /** MessageStoreConfig.maxMessageSize. */
  static final int MAX_BODY_BYTES = 4 << 20;

  /** MessageStoreConfig.slaveTimeout. */
  private static final long SLAVE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** BrokerConfig.shortPollingTimeMills of deploy/rocketmq/broker.conf. */
  private static final long SHORT_POLLING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** DefaultMessageStore.ReputMessageService indexes new messages about every millisecond. */
  private static final long MOST_INDEX_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /** Under load it lags; RocketMqLog names some milliseconds. */
  private static final long MOST_SLOW_INDEX_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  private static final int SLOW_INDEX_ONE_IN = 64;

  /** MessageStoreConfig.maxTransferBytesOnMessageInMemory of deploy/rocketmq/broker.conf. */
  private static final int MAX_PULL_BYTES = 4 << 20;

  /** Where a message is stored, and whether the broker confirms it. */
  record Appended(SendStatus status, long offset) {}

  /**
   * A pull that waits for a message.
   *
   * @param untilNanos when it is answered without a message
   */
  private record HeldPull(
      LogQueue queue, long offset, int most, long untilNanos, Reply.To<Pulled> to) {}

  private record Waiting(long place, long offset, long untilNanos, Reply.To<Appended> to) {}

  final String address;
  final InetSocketAddress host;
  final int number;
  final BrokerGroup group;
  final GroupOffsets offsets = new GroupOffsets();
  final Members members = new Members();

  private final World world;
  private final Topics topics;

  /** When it looks for messages for waiting pulls. */
  private final long phaseNanos;

  private final MessageList log = new MessageList();
  private MessageList[][] queues;
  private List<HeldPull>[][] held;

  /** Sends that wait for replicas, in the order of their places. */
  private final Deque<Waiting> waiting = new ArrayDeque<>();

  private boolean deadlineArmed;
  private boolean up = true;
  private boolean master;
  private long startedAt;
  private boolean diskFull;
  private long clockErrorMillis;

  /** The end of the commit log that all in-sync replicas have, as far as this broker knows. */
  private long confirmed;

  /** By number: in sync, as far as this broker knows. */
  private boolean[] inSync;

  /** By number: end of the copy of each replica. */
  private final long[] copied;

  Replica(World world, BrokerGroup group, int number, int replicas, Topics topics, int addressOf) {
    this.world = world;
    this.group = group;
    this.number = number;
    this.topics = topics;
    host = new InetSocketAddress(Wire.address(9, addressOf), 10_911);
    address = host.getAddress().getHostAddress() + ":" + host.getPort();
    phaseNanos = world.random().nextLong(SHORT_POLLING_NANOS);
    inSync = new boolean[replicas];
    copied = new long[replicas];
    extend();
  }

  /** Makes the queues that the topics have. */
  @SuppressWarnings("unchecked")
  void extend() {
    MessageList[][] lists = new MessageList[topics.count()][];
    List<HeldPull>[][] pulls = new List[topics.count()][];
    for (int topic = 0; topic < lists.length; topic++) {
      lists[topic] = new MessageList[topics.queues(topic)];
      pulls[topic] = new List[topics.queues(topic)];
      for (int queue = 0; queue < lists[topic].length; queue++) {
        boolean exists = queues != null && queue < queues[topic].length;
        lists[topic][queue] = exists ? queues[topic][queue] : new MessageList();
        pulls[topic][queue] = exists ? held[topic][queue] : new ArrayList<>(2);
      }
    }
    queues = lists;
    held = pulls;
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

  private MessageList list(LogQueue queue) {
    return queues[queue.topic()][queue.queue()];
  }

  // Sends

  /** Stores a message; answers when it is confirmed, refused, or its time is over. */
  void append(
      LogQueue queue,
      byte[] body,
      long bornMillis,
      InetSocketAddress bornHost,
      Reply.To<Appended> to) {
    Conditions conditions = group.conditions();
    if (!master) {
      // DefaultMessageStore.checkStoreStatus: "message store is slave mode".
      to.answer(Reply.refused(ResponseCode.SERVICE_NOT_AVAILABLE, "service not available now"));
    } else if (diskFull) {
      // DefaultMessageStore.checkStoreStatus: RunningFlags.isWriteable is false.
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
      Message stored = store(queue, body, bornMillis, bornHost);
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
    confirm();
    if (status != SendStatus.SEND_OK || stored.place() < confirmed) {
      to.answer(Reply.of(new Appended(status, stored.offset())));
    } else {
      waiting.add(
          new Waiting(stored.place(), stored.offset(), world.nanos() + SLAVE_TIMEOUT_NANOS, to));
      armDeadline();
    }
  }

  private void confirm() {
    if (copied.length > 1) {
      group.replicateSoon(this);
    } else {
      settle();
    }
  }

  private void storeAgain(Message first) {
    if (isMaster() && !diskFull) {
      store(first.queue(), first.body(), first.bornMillis(), first.bornHost());
      confirm();
    }
  }

  private Message store(LogQueue queue, byte[] body, long bornMillis, InetSocketAddress bornHost) {
    MessageList list = list(queue);
    long now = world.nanos();
    long indexed = now + indexNanos();
    if (log.end() > log.min()) {
      indexed = Math.max(indexed, log.get(log.end() - 1).visibleNanos());
    }
    Message message =
        new Message(
            queue,
            list.end(),
            log.end(),
            body,
            bornMillis,
            bornHost,
            world.unixMillis() + clockErrorMillis,
            now,
            host,
            indexed);
    log.add(message);
    list.add(message);
    copied[number] = log.end();
    return message;
  }

  private long indexNanos() {
    long random = world.random().nextLong();
    boolean slow = random % SLOW_INDEX_ONE_IN == 0;
    return Math.floorMod(random >> 8, slow ? MOST_SLOW_INDEX_NANOS : MOST_INDEX_NANOS);
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
      late.to().answer(Reply.of(new Appended(SendStatus.FLUSH_SLAVE_TIMEOUT, late.offset())));
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
    return copied[other.number] >= confirmed;
  }

  /** Sets whether a replica must have a message before it is confirmed. */
  void inSync(Replica other, boolean now) {
    inSync[other.number] = now;
    settle();
  }

  /** Copies what the master has and this replica lacks; not what was stored after a time. */
  void copyFrom(Replica from, long storedUntilNanos) {
    if (log.end() < from.log.min()) {
      // The master deleted messages that this replica never had.
      restartAt(from);
    }
    while (log.end() < from.log.end() && from.log.get(log.end()).storeNanos() <= storedUntilNanos) {
      Message message = from.log.get(log.end());
      MessageList list = list(message.queue());
      if (list.end() < message.offset()) {
        list.restartAt(message.offset());
      }
      log.add(message);
      list.add(message);
    }
    copied[number] = log.end();
    from.copied[number] = log.end();
    advance(Math.min(log.end(), from.confirmed));
  }

  private void restartAt(Replica from) {
    log.restartAt(from.log.min());
    for (int topic = 0; topic < queues.length; topic++) {
      for (int queue = 0; queue < queues[topic].length; queue++) {
        queues[topic][queue].restartAt(from.queues[topic][queue].min());
      }
    }
  }

  /** Determines what is confirmed, and answers the sends that waited for it. */
  void settle() {
    if (!isMaster()) {
      return;
    }
    long all = log.end();
    for (int other = 0; other < inSync.length; other++) {
      if (inSync[other]) {
        all = Math.min(all, copied[other]);
      }
    }
    advance(all);
    while (!waiting.isEmpty() && waiting.getFirst().place() < confirmed) {
      Waiting done = waiting.removeFirst();
      done.to().answer(Reply.of(new Appended(SendStatus.SEND_OK, done.offset())));
    }
  }

  private void advance(long to) {
    long from = Math.max(confirmed, log.min());
    confirmed = Math.max(confirmed, to);
    for (long place = from; place < to; place++) {
      arrived(log.get(place));
    }
  }

  /** Becomes the master, alone in sync: AutoSwitchHAService.changeToMaster keeps what it has. */
  void lead() {
    master = true;
    Arrays.fill(inSync, false);
    inSync[number] = true;
    Arrays.fill(copied, 0);
    copied[number] = log.end();
    settle();
  }

  /** Follows a master: AutoSwitchHAClient cuts off what the master's epochs do not have. */
  void follow(Replica leader) {
    master = false;
    expireSends(Long.MAX_VALUE);
    long common = Math.min(log.end(), leader.log.end());
    while (common > Math.max(log.min(), leader.log.min())
        && log.get(common - 1) != leader.log.get(common - 1)) {
      common--;
    }
    cutTo(common);
  }

  /** Loses the messages from a place. */
  void cutTo(long place) {
    while (log.end() > Math.max(place, log.min())) {
      Message last = log.removeLast();
      list(last.queue()).removeLast();
    }
    confirmed = Math.min(confirmed, log.end());
    copied[number] = log.end();
  }

  long end() {
    return log.end();
  }

  /**
   * Copies what a master has, except its last messages that are not confirmed.
   *
   * @param most messages of each queue that are not copied
   */
  void copyTail(Replica from, int most) {
    int[][] counts = new int[queues.length][];
    for (int topic = 0; topic < queues.length; topic++) {
      counts[topic] = new int[queues[topic].length];
    }
    long place = from.log.end();
    while (place > Math.max(log.end(), from.confirmed)) {
      LogQueue queue = from.log.get(place - 1).queue();
      if (++counts[queue.topic()][queue.queue()] > most) {
        break;
      }
      place--;
    }
    if (place > log.end()) {
      copyFrom(from, from.log.get(place - 1).storeNanos());
      cutTo(place);
      from.copied[number] = log.end();
    }
  }

  // Crash

  /** Ends at once; what it stored stays, except offsets of groups that were not written. */
  void crash() {
    up = false;
    master = false;
    startedAt = world.nanos() + 1;
    offsets.crash();
    members.clear();
    closeSends();
    for (List<HeldPull>[] topic : held) {
      for (List<HeldPull> pulls : topic) {
        List<HeldPull> ended = List.copyOf(pulls);
        pulls.clear();
        ended.forEach(pull -> pull.to().answer(Reply.closed()));
      }
    }
  }

  private void closeSends() {
    List<Waiting> ended = List.copyOf(waiting);
    waiting.clear();
    ended.forEach(send -> send.to().answer(Reply.closed()));
    deadlineArmed = false;
  }

  /** Loses what the disk did not have: messages stored after a time. */
  void losePower(long storedAfterNanos) {
    long place = log.end();
    while (place > log.min() && log.get(place - 1).storeNanos() > storedAfterNanos) {
      place--;
    }
    cutTo(place);
  }

  void start() {
    up = true;
    startedAt = world.nanos();
  }

  // Reads

  long min(LogQueue queue) {
    return list(queue).min();
  }

  /** Returns the offset after the newest message that can be read: confirmed, and indexed. */
  long max(LogQueue queue) {
    MessageList list = list(queue);
    long now = world.nanos();
    long end = list.end();
    while (end > list.min()) {
      Message last = list.get(end - 1);
      if (last.place() < confirmed && last.visibleNanos() <= now) {
        break;
      }
      end--;
    }
    return end;
  }

  /** Returns the oldest offset with a store time from this one on: ConsumeQueue, LOWER. */
  long offsetAt(LogQueue queue, long unixMillis) {
    MessageList list = list(queue);
    long low = list.min();
    long high = max(queue);
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (list.get(middle).storeMillis() < unixMillis) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Returns messages: DefaultMessageStore.getMessage. */
  Pulled pull(LogQueue queue, long offset, int most) {
    MessageList list = list(queue);
    long min = list.min();
    long max = max(queue);
    if (offset < min || offset > max) {
      // OFFSET_TOO_SMALL and OFFSET_OVERFLOW_BADLY. A slave answers PULL_RETRY_IMMEDIATELY, with
      // an offset that is not corrected if it is too large.
      return master
          ? new Pulled(PullStatus.OFFSET_ILLEGAL, List.of(), offset < min ? min : max, min, max)
          : new Pulled(PullStatus.NO_MATCHED_MSG, List.of(), Math.max(offset, min), min, max);
    }
    if (offset == max) {
      return new Pulled(PullStatus.NO_NEW_MSG, List.of(), offset, min, max);
    }
    List<Message> found = new ArrayList<>();
    long bytes = 0;
    for (long next = offset; next < max && found.size() < most; next++) {
      Message message = list.get(next);
      bytes += message.body().length;
      if (!found.isEmpty() && bytes > MAX_PULL_BYTES) {
        break;
      }
      found.add(message);
    }
    return new Pulled(PullStatus.FOUND, found, offset + found.size(), min, max);
  }

  /** Pulls; if there is no message, waits for one: PullRequestHoldService. */
  void pullOrWait(LogQueue queue, long offset, int most, long holdNanos, Reply.To<Pulled> to) {
    if (group.conditions().happens(Misbehaviour.STUCK_PULL)) {
      return;
    }
    Pulled now = pull(queue, offset, most);
    if (now.status() != PullStatus.NO_NEW_MSG) {
      to.answer(Reply.of(now));
      return;
    }
    pulls(queue).add(new HeldPull(queue, offset, most, world.nanos() + holdNanos, to));
    MessageList list = list(queue);
    if (list.end() > offset && list.get(offset).place() < confirmed) {
      arrived(list.get(offset));
    }
  }

  private List<HeldPull> pulls(LogQueue queue) {
    return held[queue.topic()][queue.queue()];
  }

  /** Answers the pulls that wait for a message, at the next look of the broker. */
  private void arrived(Message message) {
    List<HeldPull> pulls = pulls(message.queue());
    if (pulls.isEmpty()) {
      return;
    }
    long earliest = Math.max(0, message.visibleNanos() - world.nanos());
    long phase = Math.floorMod(world.nanos() + earliest + phaseNanos, SHORT_POLLING_NANOS);
    world.after(earliest + SHORT_POLLING_NANOS - phase, () -> look(message.queue()));
  }

  private void look(LogQueue queue) {
    List<HeldPull> pulls = pulls(queue);
    if (!up || pulls.isEmpty()) {
      return;
    }
    List<HeldPull> ready = new ArrayList<>(pulls.size());
    for (Iterator<HeldPull> each = pulls.iterator(); each.hasNext(); ) {
      HeldPull pull = each.next();
      if (max(queue) != pull.offset() || pull.untilNanos() <= world.nanos()) {
        each.remove();
        ready.add(pull);
      }
    }
    ready.forEach(pull -> pull.to().answer(Reply.of(pull(queue, pull.offset(), pull.most()))));
  }

  /** Answers the pulls that waited long enough. Called every second. */
  void endPulls() {
    for (List<HeldPull>[] topic : held) {
      for (List<HeldPull> pulls : topic) {
        if (!pulls.isEmpty() && pulls.getFirst().untilNanos() <= world.nanos()) {
          look(pulls.getFirst().queue());
        }
      }
    }
  }

  /**
   * Deletes old messages: DefaultMessageStore.CleanCommitLogService.
   *
   * @param storedBeforeNanos only messages that are older
   */
  void deleteOld(long storedBeforeNanos) {
    while (log.min() < Math.min(log.end(), confirmed)
        && log.get(log.min()).storeNanos() < storedBeforeNanos) {
      Message oldest = log.get(log.min());
      log.deleteBefore(oldest.place() + 1);
      list(oldest.queue()).deleteBefore(oldest.offset() + 1);
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(address);
    text.append(up ? master ? " master" : " slave" : " down");
    text.append(" log=").append(log.min()).append("..").append(log.end());
    text.append(" confirmed=").append(confirmed);
    if (master && inSync.length > 1) {
      text.append(" inSync=").append(Arrays.toString(inSync));
    }
    if (diskFull) {
      text.append(" disk full");
    }
    return text.append(" members: ").append(members).toString();
  }
}
