package org.traceetl.perf.simulate.broker;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.traceetl.perf.simulate.world.Durable;
import org.traceetl.perf.simulate.world.World;

/**
 * The messages of one broker: a commit log of all queues in one order, in which replicas copy them,
 * and the queues. DefaultMessageStore of RocketMQ 5.5.0.
 */
final class MessageStore implements Durable {
  /** ReputMessageService indexes new messages about every millisecond. */
  private static final long MOST_INDEX_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /** Under load it lags; RocketMqLog names some milliseconds. */
  private static final long MOST_SLOW_INDEX_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  private static final int SLOW_INDEX_ONE_IN = 64;

  /** MessageStoreConfig.maxTransferBytesOnMessageInMemory of deploy/rocketmq/broker.conf. */
  private static final int MAX_PULL_BYTES = 4 << 20;

  private final World world;
  private final Topics topics;
  private final MessageList log = new MessageList();
  private final MessageList[][] queues;

  /**
   * CommitLog.getConfirmOffset: the place up to which messages are safe, as far as is known here.
   */
  private long confirmed;

  /** The place up to which consumers may read. */
  private long readable;

  private int readLosses;

  /** The place up to which the disk has the messages. */
  private long flushed;

  MessageStore(World world, Topics topics) {
    this.world = world;
    this.topics = topics;
    queues = new MessageList[topics.count()][];
    for (int topic = 0; topic < queues.length; topic++) {
      queues[topic] = new MessageList[topics.mostQueues(topic)];
      Arrays.setAll(queues[topic], queue -> new MessageList());
    }
  }

  private MessageList list(LogQueue queue) {
    return queues[queue.topic()][queue.queue()];
  }

  /** Returns the place of the next message in the commit log. */
  long end() {
    return log.end();
  }

  long confirmed() {
    return confirmed;
  }

  long readable() {
    return readable;
  }

  /** Returns how often messages were lost that consumers could read. */
  int readLosses() {
    return readLosses;
  }

  long flushed() {
    return flushed;
  }

  /** Returns whether a message of this broker name is here, or was deleted after its time. */
  boolean has(Message message) {
    return message.place() < log.min()
        || message.place() < end() && log.get(message.place()) == message;
  }

  /** Returns the message at a place of the commit log. */
  Message at(long place) {
    return log.get(place);
  }

  /** Returns when the message at a place, or the oldest one after it, was stored; now if none. */
  long storedNanos(long place) {
    long oldest = Math.max(place, log.min());
    return oldest >= end() ? world.nanos() : log.get(oldest).storeNanos();
  }

  /** Stores a message of this broker at the end of a queue. */
  Message store(
      LogQueue queue,
      byte[] body,
      String ages,
      long bornMillis,
      InetSocketAddress bornHost,
      long storeMillis,
      InetSocketAddress storeHost) {
    long indexed = world.nanos() + indexNanos();
    if (log.end() > log.min()) {
      indexed = Math.max(indexed, log.get(log.end() - 1).visibleNanos());
    }
    Message message =
        new Message(
            queue,
            list(queue).end(),
            log.end(),
            body,
            ages,
            bornMillis,
            bornHost,
            storeMillis,
            world.nanos(),
            storeHost,
            indexed);
    add(message);
    return message;
  }

  private long indexNanos() {
    long random = world.random().nextLong();
    boolean slow = random % SLOW_INDEX_ONE_IN == 0;
    return Math.floorMod(random >> 8, slow ? MOST_SLOW_INDEX_NANOS : MOST_INDEX_NANOS);
  }

  private void add(Message message) {
    log.add(message);
    list(message.queue()).add(message);
  }

  @Override
  public void write(DataOutputStream to) throws IOException {
    to.writeLong(log.min());
    to.writeInt(queues.length);
    for (MessageList[] lists : queues) {
      to.writeInt(lists.length);
      for (MessageList list : lists) {
        to.writeLong(list.min());
      }
    }
    to.writeLong(log.end() - log.min());
    for (long place = log.min(); place < log.end(); place++) {
      Message message = log.get(place);
      to.writeInt(message.queue().topic());
      to.writeInt(message.queue().queue());
      to.writeInt(message.body().length);
      to.write(message.body());
      to.writeLong(message.bornMillis());
      write(message.bornHost(), to);
      to.writeLong(message.storeMillis());
      write(message.storeHost(), to);
    }
  }

  @Override
  public void read(DataInputStream from) throws IOException {
    log.restartAt(from.readLong());
    int topicCount = from.readInt();
    for (int topic = 0; topic < topicCount; topic++) {
      int queueCount = from.readInt();
      for (int queue = 0; queue < queueCount; queue++) {
        list(queue(topic, queue)).restartAt(from.readLong());
      }
    }
    for (long left = from.readLong(); left > 0; left--) {
      LogQueue queue = queue(from.readInt(), from.readInt());
      byte[] body = from.readNBytes(from.readInt());
      add(
          new Message(
              queue,
              list(queue).end(),
              log.end(),
              body,
              null,
              from.readLong(),
              readHost(from),
              from.readLong(),
              world.nanos(),
              readHost(from),
              world.nanos()));
    }
    flush(end());
  }

  /** Writes the messages' ages, which {@link #write} omits because earlier builds read that. */
  void writeAges(DataOutputStream to) throws IOException {
    for (long place = log.min(); place < log.end(); place++) {
      String ages = log.get(place).ages();
      to.writeUTF(ages == null ? "" : ages);
    }
  }

  /** Reads what {@link #writeAges} wrote, of the messages that were read before. */
  void readAges(DataInputStream from) throws IOException {
    for (long place = log.min(); place < log.end(); place++) {
      String ages = from.readUTF();
      if (!ages.isEmpty()) {
        Message message = log.get(place).with(ages);
        log.set(place, message);
        list(message.queue()).set(message.offset(), message);
      }
    }
  }

  private LogQueue queue(int topic, int queue) throws IOException {
    if (topic >= topics.count() || queue >= topics.queues(topic)) {
      throw new IOException("topic " + topic + " has no queue " + queue + " here");
    }
    return topics.queue(topics.name(topic), queue);
  }

  private static void write(InetSocketAddress host, DataOutputStream to) throws IOException {
    to.write(host.getAddress().getAddress());
    to.writeInt(host.getPort());
  }

  private static InetSocketAddress readHost(DataInputStream from) throws IOException {
    return new InetSocketAddress(InetAddress.getByAddress(from.readNBytes(4)), from.readInt());
  }

  // Replication

  /** Copies what another store has and this one lacks; not what was stored after a time. */
  void copyFrom(MessageStore from, long storedUntilNanos) {
    if (end() < from.log.min()) {
      restartAt(from); // the other one deleted messages that this one never had
    }
    while (end() < from.end() && from.log.get(end()).storeNanos() <= storedUntilNanos) {
      add(from.log.get(end()));
    }
  }

  /**
   * Copies what another store has, except its last messages that are not confirmed.
   *
   * @param most messages of each queue that are not copied
   */
  void copyExceptTail(MessageStore from, int most) {
    int[][] counts = new int[queues.length][];
    for (int topic = 0; topic < queues.length; topic++) {
      counts[topic] = new int[queues[topic].length];
    }
    long place = from.end();
    while (place > Math.max(end(), from.confirmed)) {
      LogQueue queue = from.log.get(place - 1).queue();
      if (++counts[queue.topic()][queue.queue()] > most) {
        break;
      }
      place--;
    }
    copyFrom(from, Long.MAX_VALUE);
    cutTo(place);
  }

  private void restartAt(MessageStore from) {
    log.restartAt(from.log.min());
    for (int topic = 0; topic < queues.length; topic++) {
      for (int queue = 0; queue < queues[topic].length; queue++) {
        queues[topic][queue].restartAt(from.queues[topic][queue].min());
      }
    }
    confirmed = log.min();
    readable = log.min();
    flushed = log.min();
  }

  /** Cuts off what another store does not have: AutoSwitchHAClient goes by epochs. */
  void cutToCommon(MessageStore other) {
    long common = Math.min(end(), other.end());
    while (common > Math.max(log.min(), other.log.min())
        && log.get(common - 1) != other.log.get(common - 1)) {
      common--;
    }
    if (common < log.min()) {
      restartAt(other);
    } else {
      cutTo(common);
    }
  }

  /** Loses the messages from a place. */
  private void cutTo(long place) {
    while (end() > Math.max(place, log.min())) {
      Message last = log.removeLast();
      list(last.queue()).removeLast();
    }
    confirmed = Math.min(confirmed, end());
    if (readable > end()) {
      readable = end();
      readLosses++;
    }
    flushed = Math.min(flushed, end());
  }

  /** Loses a queue's messages from an offset, and all that were stored after that one. */
  void loseFrom(LogQueue queue, long offset) {
    cutTo(list(queue).get(offset).place());
  }

  /** Records that the disk has the messages before a place. */
  void flush(long to) {
    flushed = Math.max(flushed, Math.min(to, end()));
  }

  /** Records that the disk has the messages that were stored before a time. */
  void flushBefore(long storedNanos) {
    long place = end();
    while (place > Math.max(flushed, log.min()) && log.get(place - 1).storeNanos() > storedNanos) {
      place--;
    }
    flush(place);
  }

  /** Loses newest messages that the disk does not have: CommitLog.recoverAbnormally. */
  void losePower() {
    long unflushed = end() - flushed;
    // The kernel may have written a part.
    cutTo(unflushed == 0 ? end() : flushed + world.random().nextLong(unflushed));
  }

  void confirm(long to) {
    confirmed = Math.max(confirmed, to);
  }

  /** Lets consumers read messages before a place; returns those that they could not read yet. */
  List<Message> publish(long to) {
    if (to <= readable) {
      return List.of();
    }
    List<Message> news = new ArrayList<>();
    for (long place = Math.max(readable, log.min()); place < to; place++) {
      news.add(log.get(place));
    }
    readable = to;
    return news;
  }

  /**
   * Deletes old messages that are confirmed: CleanCommitLogService.
   *
   * @param storedBeforeNanos only messages that are older
   * @param needed messages of which none is deleted, nor what was stored after it
   */
  void deleteOld(long storedBeforeNanos, Predicate<Message> needed) {
    while (log.min() < Math.min(end(), confirmed)
        && log.get(log.min()).storeNanos() < storedBeforeNanos
        && !needed.test(log.get(log.min()))) {
      Message oldest = log.get(log.min());
      log.deleteBefore(oldest.place() + 1);
      list(oldest.queue()).deleteBefore(oldest.offset() + 1);
    }
  }

  // Reads

  long min(LogQueue queue) {
    return list(queue).min();
  }

  /** Returns the offset after the newest message that can be read, and is indexed. */
  long max(LogQueue queue) {
    MessageList list = list(queue);
    long end = list.end();
    while (end > list.min()) {
      Message last = list.get(end - 1);
      if (last.place() < readable && last.visibleNanos() <= world.nanos()) {
        break;
      }
      end--;
    }
    return end;
  }

  /** Returns the message at an offset that can be read when it is indexed; null if none. */
  Message published(LogQueue queue, long offset) {
    MessageList list = list(queue);
    if (offset < list.min() || offset >= list.end()) {
      return null;
    }
    Message message = list.get(offset);
    return message.place() < readable ? message : null;
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

  /**
   * Returns messages: getMessage.
   *
   * @param correct whether an offset outside of the queue is corrected; slaves only say that the
   *     client has to try again (DefaultPullMessageResultHandler, PULL_RETRY_IMMEDIATELY)
   */
  Pulled pull(LogQueue queue, long offset, int most, boolean correct) {
    MessageList list = list(queue);
    long min = list.min();
    long max = max(queue);
    if (offset < min || offset > max) {
      // OFFSET_TOO_SMALL and OFFSET_OVERFLOW_BADLY
      return correct
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

  @Override
  public String toString() {
    return "messages="
        + log.min()
        + ".."
        + end()
        + " confirmed="
        + confirmed
        + " flushed="
        + flushed;
  }
}
