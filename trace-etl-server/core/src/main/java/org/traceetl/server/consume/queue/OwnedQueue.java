package org.traceetl.server.consume.queue;

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
import org.traceetl.proto.BatchAges;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.consume.broker.BrokerOffsets.Range;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/**
 * A queue that a worker owns: tracks the next offset and checks each message against it. Windows
 * are contiguous, even if messages are not. A message is taken only at the expected offset, unless
 * the broker deleted the messages before it.
 *
 * <p>A broker may lose its newest messages and reuse their offsets, for example if a lagging
 * replica became the master. Therefore {@link #compare} compares the messages that were read with
 * those of the broker after a take-over, and when a message indicates a loss. Such a message is
 * below {@link #next} and differs from the one read there, is from another master, or followed an
 * unanswered pull. Replacements of lost messages are read; batch names identify repeats.
 *
 * <p>Confined to the worker's thread, except {@link #status} and what is kept, committed and
 * released.
 */
public final class OwnedQueue {
  private static final Logger log = LoggerFactory.getLogger(OwnedQueue.class);
  private static final long UNKNOWN = -1;

  /** After this many answers without the next message, the queue continues without it. */
  private static final int MAX_MISSING = 3;

  /** Maximum number of remembered places: some of the newest pulls. */
  private static final int MAX_RECENT = 128;

  /** What the worker has to do after a list of messages. */
  public enum Outcome {
    TAKEN,
    /**
     * The next message is missing, or messages may have changed: {@link #compare}, pull again from
     * {@link #next}, then call {@link #rewound}.
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
  private final SpanPipelineMetrics listener;

  private final Set<Long> refused;

  private long next;
  private long failedOffset = UNKNOWN;

  /** Number of consecutive answers that the broker has no message at {@link #next}. */
  private int missing;

  /** Tests whether a pull continued at an offset after one without an answer. */
  private final LongPredicate resumed;

  /** {@link MessageIdentity} of the message before {@link #next}, if known. */
  private int last;

  private boolean lastKnown;

  /** The master that stored that message. */
  private SocketAddress master;

  /** Ends of the newest windows. */
  private LastMessages windowEnds;

  /** Those of them that did not end early: together they span minutes. */
  private LastMessages dueEnds;

  private final BatchAges ages = new BatchAges();
  private final PaneLag lag;

  /** Ends of the lists of messages that were read, after ends of earlier windows. */
  private LastMessages recent;

  /** Where to read from if the broker has none of the messages at those places. */
  private long earliest;

  /** {@link #next} at the last comparison. */
  private long comparedAt;

  /** Contiguous messages pulled below {@link #next}: first offset, and offset after the last. */
  private long repeatedFrom = UNKNOWN;

  private long repeatedTo = UNKNOWN;

  /** Whether the next message is missing; messages are then ignored until the next seek. */
  private boolean astray;

  private volatile QueueStatus status;
  private volatile boolean released;
  private volatile long end = UNKNOWN;

  /** Whether {@link #end} was read since the last window. */
  private volatile boolean isEndRead;

  /** Whether messages were taken since the last window. */
  private boolean hasMessages;

  /** Time without a message for which it is not known yet that the broker had none. */
  private long withoutMessageMillis;

  private volatile long keptTo = UNKNOWN;
  private volatile long committedTo = UNKNOWN;

  /**
   * @param next offset of the first message
   * @param lastMessages show whether the broker still has the messages that were read before
   * @param resumed tests whether a pull continued at an offset after one without an answer
   * @param refused offsets of messages to reject because their recording failed too often
   * @param lag of the worker
   */
  public OwnedQueue(
      QueueId id,
      MessageQueue messageQueue,
      QueueAggregator aggregator,
      SpanPipelineMetrics listener,
      long next,
      LastMessages lastMessages,
      LongPredicate resumed,
      Set<Long> refused,
      PaneLag lag) {
    this.refused = refused;
    this.lag = lag;
    this.id = id;
    this.messageQueue = messageQueue;
    this.aggregator = aggregator;
    this.listener = listener;
    this.next = next;
    this.resumed = resumed;
    windowEnds = lastMessages;
    dueEnds = lastMessages;
    recent = lastMessages;
    earliest = lastMessages.isEmpty() ? next : 0;
    comparedAt = next;
    aggregator.beginAt(next);
    publishStatus();
  }

  public QueueId id() {
    return id;
  }

  public MessageQueue messageQueue() {
    return messageQueue;
  }

  public long next() {
    return next;
  }

  /** Takes messages in the order of their offsets. */
  public Outcome take(List<MessageExt> messages, long nowMillis) {
    if (astray) {
      return Outcome.REWIND;
    }
    hasMessages = true;
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

  /** Returns whether the broker may have lost messages that were read. */
  private boolean mayFollowALoss(MessageExt message) {
    boolean otherMaster = master != null && !master.equals(message.getStoreHost());
    return resumed.test(next) || otherMaster && comparedAt != next;
  }

  /**
   * Compares the messages that were read with those of the broker, and goes back to the last
   * unchanged one. The names of batches identify what is then read again.
   *
   * @param range the offsets of the queue at the broker
   */
  public void compare(Range range, BrokerOffsets broker) throws MQClientException {
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
    if (unchanged == read.lastEnd() && Math.max(unchanged, range.min()) >= next) {
      return;
    }
    if (unchanged == Continuity.DELETED && read.lastEnd() <= range.min()) {
      log.info(
          "Queue {}: the broker has deleted message {}, which was read and can no longer be"
              + " compared; reading continues at offset {}",
          id,
          read.lastEnd() - 1,
          next);
      return;
    }
    long lowest = unchanged < 0 ? Math.min(earliest, next) : unchanged;
    long from = Math.max(lowest, range.min());
    log.error(
        "Queue {} goes back from offset {} to {}: the broker lost messages that were read, and may"
            + " have others at their offsets; batches that were counted are recognized by their"
            + " names",
        id,
        next,
        from);
    listener.replaced(id, next - from);
    next = from;
    lastKnown = false;
    master = null;
    earliest = Math.min(earliest, from);
    // The window ends stay: if the next window is not kept, its next reader has to go back, too.
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
          "Message {} of queue {} is rejected because it could not be recorded; its spans are"
              + " counted in trace_etl_spans_rejected_total with reason internal",
          offset,
          id);
      aggregator.refuse(body, compressed ? message.getSysFlag() : 0, nowMillis);
      return;
    }
    long storedMillis = message.getStoreTimestamp();
    String property = message.getProperty(BatchAges.PROPERTY);
    if (!compressed && aggregator.isHeartbeat(body)) {
      ages.read(property);
      aggregator.acceptHeartbeat(body, nowMillis, storedMillis, ages);
      return;
    }
    readAges(property);
    lag.add(nowMillis - storedMillis + ages.of(0));
    if (compressed) {
      aggregator.acceptCompressed(body, message.getSysFlag(), nowMillis, storedMillis, ages);
    } else {
      aggregator.accept(body, nowMillis, storedMillis, ages);
    }
  }

  private void readAges(String property) {
    if (property == null) {
      listener.withoutAge();
    }
    if (!ages.read(property)) {
      listener.malformedAges();
    }
  }

  /** Returns the offset of the message whose recording failed, after {@link Outcome#FAILED}. */
  public long failedOffset() {
    return failedOffset;
  }

  /** Returns whether a message counts although its offset is not the expected one. */
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
    // Messages that the client pulled before a seek may arrive after it, and more than once.
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
   * Prepares for messages from {@link #next}, after the seek.
   *
   * @param range the offsets of the queue at the broker
   */
  public void rewound(Range range, BrokerOffsets broker) throws MQClientException {
    boolean inRange = next >= range.min() && next < range.max();
    missing = inRange && broker.message(messageQueue, next) == null ? missing + 1 : 0;
    astray = false;
  }

  private static long longProperty(MessageExt message, String name) {
    String value = message.getProperty(name);
    return value == null ? UNKNOWN : Long.parseLong(value);
  }

  /** Ends the window, to be sealed; returns null if it must continue. */
  public FilledWindow swap(long nowMillis) {
    return swap(nowMillis, 0);
  }

  /**
   * Ends the window, to be sealed; returns null if it must continue.
   *
   * @param passedMillis time since the last call, by the monotonic clock
   */
  public FilledWindow swap(long nowMillis, long passedMillis) {
    // A pull may hang while the broker has messages; its end then is above.
    boolean isBehind = hasMessages || astray || isEndRead && end > next;
    boolean isSilent = !isBehind && isEndRead;
    // The end may be read less often than windows end.
    withoutMessageMillis = isBehind ? 0 : withoutMessageMillis + passedMillis;
    long silentMillis = isSilent ? withoutMessageMillis : 0;
    withoutMessageMillis -= silentMillis;
    hasMessages = false;
    isEndRead = false;
    FilledWindow filled = ended(aggregator.swap(next, nowMillis, silentMillis));
    if (filled != null && lastKnown) {
      dueEnds = dueEnds.with(next, last, LastMessages.MAX_WINDOWS);
    }
    return filled;
  }

  /**
   * Ends the window before its time, to be sealed; returns null if it must continue. Its end leaves
   * the {@link #lastMessages} with the second window after it.
   */
  public FilledWindow swapEarly(long nowMillis) {
    return ended(aggregator.swapEarly(next, nowMillis));
  }

  private FilledWindow ended(FilledWindow filled) {
    if (filled != null && lastKnown) {
      // Places above were given up, see goBack.
      dueEnds = dueEnds.upTo(next);
      // The end before is needed until this window is kept.
      LastMessages ends = windowEnds.isEmpty() ? dueEnds : dueEnds.withLastOf(windowEnds);
      windowEnds = ends.with(next, last, LastMessages.MAX_WINDOWS);
    }
    publishStatus();
    return filled;
  }

  /** Returns whether {@link #swapEarly} should end the window. */
  public boolean isCrowded(long nowMillis) {
    return aggregator.isCrowded(nowMillis);
  }

  /** Returns the ends of the newest windows, including the one that {@link #swap} ended last. */
  public LastMessages lastMessages() {
    return windowEnds;
  }

  /** Returns whether the previous window is kept, so that {@link #swap} ends the open one. */
  public boolean canSwap() {
    return aggregator.canSwap();
  }

  /** Returns whether the window should continue, until it is known whether to write its panes. */
  public boolean awaitsPanes(long nowMillis) {
    return aggregator.awaitsPanes(nowMillis);
  }

  /** Ends this worker's use of the queue; another owner may have begun already. */
  public void release() {
    released = true;
    aggregator.release();
  }

  public boolean isReleased() {
    return released;
  }

  /** Records that the journal has the queue's windows up to this offset. */
  public void kept(long offset) {
    keptTo = offset;
  }

  /** Returns the offset up to which windows are kept, or -1. */
  public long keptTo() {
    return keptTo;
  }

  /** Records that the broker has this offset, or a later one. */
  public void committed(long offset) {
    committedTo = offset;
  }

  /** Returns the offset that the broker has at least, or -1. */
  public long committedTo() {
    return committedTo;
  }

  /** Records the offset after the broker's newest message. */
  public void endsAt(long offset) {
    end = offset;
    isEndRead = true;
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
            aggregator.agentCount(),
            aggregator.openHalves());
  }

  public QueueStatus status() {
    QueueStatus now = status;
    return new QueueStatus(
        id,
        now.next(),
        committedTo,
        end,
        now.series(),
        now.symbols(),
        now.agents(),
        now.openHalves());
  }
}
