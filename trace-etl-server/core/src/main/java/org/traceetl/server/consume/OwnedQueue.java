package org.traceetl.server.consume;

import java.net.SocketAddress;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.consume.BrokerOffsets.Range;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/**
 * A queue in the hands of the worker that owns it: which offset comes next, and whether a message
 * is that one. Windows are contiguous, even where messages are not: a message is taken at its
 * offset or not at all, unless the broker has deleted what was before it.
 *
 * <p>A broker may lose its newest messages and give their offsets to new ones, as a master does
 * that was a replica behind. The messages that were read are therefore compared with those of the
 * broker ({@link #compare}) when the queue is taken over, and when a message shows that there may
 * be others: it is below {@link #next} and not the one that was read there, another master stored
 * it, or it was pulled after a pull without an answer. Messages that took the place of lost ones
 * are read, and the names of batches tell repeats.
 *
 * <p>Belongs to the worker. For all threads are {@link #status} and what is kept, committed and
 * released.
 */
final class OwnedQueue {
  private static final Logger log = LoggerFactory.getLogger(OwnedQueue.class);
  private static final long UNKNOWN = -1;

  /** Times that the broker has to say that it has no next message before that one is given up. */
  private static final int MAX_MISSING = 3;

  /** Most places remembered between the newest windows' ends: some of the newest pulls. */
  private static final int MAX_RECENT = 128;

  /** What a message list asks of the worker. */
  enum Outcome {
    TAKEN,
    /**
     * The next message did not come, or what was read may have changed: {@link #compare}, pull
     * again from {@link #next}, and say so by {@link #rewound}.
     */
    REWIND,
    /**
     * The recording of the message at {@link #failedOffset} failed: the open window is void, and
     * the queue must be taken over again.
     */
    FAILED
  }

  private final QueueId id;
  private final MessageQueue messageQueue;
  private final QueueAggregator aggregator;
  private final PipelineMetrics listener;

  private final Set<Long> refused;

  private long next;
  private long failedOffset = UNKNOWN;

  /** How often in a row the broker said that it has no message at {@link #next}. */
  private int missing;

  /** Whether a pull went on at an offset after one without an answer. */
  private final LongPredicate resumed;

  /** {@link MessageIdentity} of the message before {@link #next}, if it is known. */
  private int last;

  private boolean lastKnown;

  /** Who stored it. */
  private SocketAddress master;

  /** The ends of the newest windows. */
  private LastMessages windowEnds;

  /** Up to where lists of messages were read, and windows before them. */
  private LastMessages recent;

  /** Where to read from if no message at those places is the one that was read there. */
  private long earliest;

  /** {@link #next} when messages were compared last. */
  private long comparedAt;

  /** Messages pulled below {@link #next}, side by side: the first, and the place after the last. */
  private long repeatedFrom = UNKNOWN;

  private long repeatedTo = UNKNOWN;

  /** The next message did not come; what comes is not taken until the queue is pulled again. */
  private boolean astray;

  private volatile QueueStatus status;
  private volatile boolean released;
  private volatile long end = UNKNOWN;
  private volatile long keptTo = UNKNOWN;
  private volatile long committedTo = UNKNOWN;

  /**
   * @param next offset to begin at
   * @param lastMessages by which to find out whether the broker still has what was read before
   * @param resumed whether a pull went on at an offset after one without an answer
   * @param refused offsets of messages that are rejected because their recording failed too often
   */
  OwnedQueue(
      QueueId id,
      MessageQueue messageQueue,
      QueueAggregator aggregator,
      PipelineMetrics listener,
      long next,
      LastMessages lastMessages,
      LongPredicate resumed,
      Set<Long> refused) {
    this.refused = refused;
    this.id = id;
    this.messageQueue = messageQueue;
    this.aggregator = aggregator;
    this.listener = listener;
    this.next = next;
    this.resumed = resumed;
    windowEnds = lastMessages;
    recent = lastMessages;
    earliest = lastMessages.isEmpty() ? next : 0;
    comparedAt = next;
    aggregator.beginAt(next);
    publishStatus();
  }

  QueueId id() {
    return id;
  }

  MessageQueue messageQueue() {
    return messageQueue;
  }

  long next() {
    return next;
  }

  /** Takes messages in the order of their offsets. */
  Outcome take(List<MessageExt> messages, long nowMillis) {
    if (astray) {
      return Outcome.REWIND;
    }
    for (MessageExt message : messages) {
      long offset = message.getQueueOffset();
      if (offset != next && !isNext(message, offset)) {
        if (astray || offset > next) {
          return Outcome.REWIND;
        }
        continue;
      }
      if (mayFollowALoss(message)) {
        astray = true;
        return Outcome.REWIND;
      }
      missing = 0;
      next = offset + 1;
      try {
        accept(message, offset, nowMillis);
      } catch (RuntimeException e) {
        log.error("Failed to record message {} of queue {}", offset, id, e);
        failedOffset = offset;
        return Outcome.FAILED;
      }
    }
    if (lastKnown) {
      recent = recent.with(next, last, MAX_RECENT);
    }
    end = longProperty(messages.getLast(), MessageConst.PROPERTY_MAX_OFFSET);
    publishStatus();
    return Outcome.TAKEN;
  }

  /** Whether the broker may have lost what was read before the next message. */
  private boolean mayFollowALoss(MessageExt message) {
    boolean otherMaster = master != null && !master.equals(message.getStoreHost());
    return resumed.test(next) || otherMaster && comparedAt != next;
  }

  /**
   * Compares the messages that were read with those that the broker has, and goes back to the last
   * one that is unchanged. What is read again is told by the names of batches.
   *
   * @param range what the broker has
   */
  void compare(Range range, BrokerOffsets broker) throws MQClientException {
    LastMessages read = recent;
    if (lastKnown) {
      read = read.with(next, last, MAX_RECENT);
    }
    read = read.upTo(next);
    if (!read.isEmpty()) {
      goBack(read, unchangedTo(read, range, broker), range);
    }
    comparedAt = next;
  }

  private long unchangedTo(LastMessages read, Range range, BrokerOffsets broker)
      throws MQClientException {
    long unchanged = Continuity.unchangedTo(read, messageQueue, range, broker);
    LastMessages older = windowEnds.upTo(read.end(0) - 1);
    return unchanged == Continuity.NOWHERE && !older.isEmpty()
        ? Continuity.unchangedTo(older, messageQueue, range, broker)
        : unchanged;
  }

  private void goBack(LastMessages read, long unchanged, Range range) {
    if (unchanged == read.lastEnd()) {
      return;
    }
    if (unchanged == Continuity.DELETED && read.lastEnd() <= range.min()) {
      log.info(
          "Queue {}: the broker has deleted message {}, which was read and can no longer be compared;"
              + " reading continues at offset {}",
          id,
          read.lastEnd() - 1,
          next);
      return;
    }
    long lowest = unchanged < 0 ? Math.min(earliest, next) : unchanged;
    long from = Math.max(lowest, range.min());
    log.error(
        "Queue {} goes back from offset {} to {}: the broker lost messages that were read, and may"
            + " have others at their offsets; batches that were counted are recognized by their names",
        id,
        next,
        from);
    listener.replaced(id, next - from);
    next = from;
    lastKnown = false;
    master = null;
    earliest = Math.min(earliest, from);
    windowEnds = windowEnds.upTo(from);
    recent = recent.upTo(from);
    repeatedFrom = UNKNOWN;
    repeatedTo = UNKNOWN;
    publishStatus();
  }

  private void accept(MessageExt message, long offset, long nowMillis) {
    byte[] body = MessageIdentity.body(message);
    last = MessageIdentity.of(message);
    lastKnown = true;
    master = message.getStoreHost();
    boolean compressed = (message.getSysFlag() & MessageSysFlag.COMPRESSED_FLAG) != 0;
    if (!refused.isEmpty() && refused.contains(offset)) {
      log.error(
          "Message {} of queue {} is rejected because it could not be recorded; its spans are counted"
              + " in trace_etl_spans_rejected_total with reason internal",
          offset,
          id);
      aggregator.refuse(body, compressed ? message.getSysFlag() : 0, nowMillis);
    } else if (compressed) {
      aggregator.acceptCompressed(body, message.getSysFlag(), nowMillis);
    } else {
      aggregator.accept(body, nowMillis);
    }
  }

  /** Offset of the message whose recording failed, after {@link Outcome#FAILED}. */
  long failedOffset() {
    return failedOffset;
  }

  /** Whether a message counts although its offset is not the expected one. */
  private boolean isNext(MessageExt message, long offset) {
    if (offset < next) {
      if (longProperty(message, MessageConst.PROPERTY_MAX_OFFSET) >= next) {
        pulledAgain(message, offset);
        return false;
      }
      if (lastKnown || !recent.isEmpty()) {
        astray = true;
        return false;
      }
      log.error(
          "Queue {} goes back from offset {} to {}: the broker lost messages, or the topic was"
              + " recreated",
          id,
          next,
          offset);
      listener.replaced(id, next - offset);
      return true;
    }
    // What the client pulled before it was told to seek may come after that, and more than once.
    boolean deleted = longProperty(message, MessageConst.PROPERTY_MIN_OFFSET) > next;
    if (!deleted && missing < MAX_MISSING) {
      astray = true;
      listener.outOfOrder(id);
      return false;
    }
    log.error(
        "Queue {}: the broker deleted messages {} to {} before they were read;"
            + " keep messages longer or add servers",
        id,
        next,
        offset - 1);
    listener.skipped(id, offset - next);
    return true;
  }

  private void pulledAgain(MessageExt message, long offset) {
    if (offset != repeatedTo) {
      repeatedFrom = offset;
    }
    repeatedTo = offset + 1;
    astray = repeatedTo == next && lastKnown && last != MessageIdentity.of(message);
  }

  /**
   * The queue is pulled from {@link #next} again.
   *
   * @param range what the broker has
   */
  void rewound(Range range, BrokerOffsets broker) throws MQClientException {
    boolean inRange = next >= range.min() && next < range.max();
    missing = inRange && broker.message(messageQueue, next) == null ? missing + 1 : 0;
    astray = false;
  }

  private static long longProperty(MessageExt message, String name) {
    String value = message.getProperty(name);
    return value == null ? UNKNOWN : Long.parseLong(value);
  }

  /** Ends the window, to be sealed, unless it has to go on: null. */
  FilledWindow swap(long nowMillis) {
    FilledWindow filled = aggregator.swap(next, nowMillis);
    if (filled != null && lastKnown) {
      windowEnds = windowEnds.with(next, last, LastMessages.MAX_WINDOWS);
    }
    publishStatus();
    return filled;
  }

  /** The ends of the newest windows, the one that {@link #swap} ended last among them. */
  LastMessages lastMessages() {
    return windowEnds;
  }

  /** Whether the window before is kept, so that {@link #swap} ends the open one. */
  boolean canSwap() {
    return aggregator.canSwap();
  }

  /** This worker takes no more of it; another one may have begun already. */
  void release() {
    released = true;
    aggregator.release();
  }

  boolean isReleased() {
    return released;
  }

  /** The journal has the queue's windows up to this offset. */
  void kept(long offset) {
    keptTo = offset;
  }

  /** Offset to which windows are kept, or -1. */
  long keptTo() {
    return keptTo;
  }

  /** The broker has this offset, or a later one. */
  void committed(long offset) {
    committedTo = offset;
  }

  /** Offset that the broker was told, or -1. */
  long committedTo() {
    return committedTo;
  }

  /** The broker has messages up to this offset. */
  void endsAt(long offset) {
    end = offset;
  }

  private void publishStatus() {
    status =
        new QueueStatus(
            id,
            next,
            UNKNOWN,
            UNKNOWN,
            aggregator.seriesCount(),
            aggregator.symbolCount(),
            aggregator.agentCount());
  }

  QueueStatus status() {
    QueueStatus now = status;
    return new QueueStatus(
        id, now.next(), committedTo, end, now.series(), now.symbols(), now.agents());
  }
}
