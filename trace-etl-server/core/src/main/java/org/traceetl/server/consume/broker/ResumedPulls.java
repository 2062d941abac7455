package org.traceetl.server.consume.broker;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.sysflag.PullSysFlag;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.header.PullMessageRequestHeader;

/**
 * Records where a consumer's pulls continue after one without an answer, after a gap, or at another
 * address. The client tells nothing of it; the broker may have lost messages in between. If it is
 * the first one after a seek, the client continues where it was before the seek
 * (DefaultLitePullConsumerImpl.nextPullOffset of RocketMQ 5.5.0), which is recorded as well.
 * Thread-safe.
 */
public final class ResumedPulls implements RPCHook {
  /**
   * A broker does not restart faster. The client pulls again at once, and within 50 ms if its cache
   * is full.
   */
  static final long GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final LongSupplier nanoClock;
  private final Map<MessageQueue, Pull> pulls = new ConcurrentHashMap<>();

  /** By queue: offsets of resumed pulls that its worker has not reached. */
  private final Map<MessageQueue, ConcurrentSkipListSet<Long>> resumed = new ConcurrentHashMap<>();

  /** By queue: the offset that was sought, until a pull at it is answered. */
  private final Map<MessageQueue, Sought> sought = new ConcurrentHashMap<>();

  private record Sought(long offset, boolean left) {}

  /**
   * @param answeredNanos time of the answer or, without one, of the pull
   */
  private record Pull(String address, boolean answered, long answeredNanos) {
    boolean isFollowedBy(String next, long nowNanos) {
      return answered && address.equals(next) && nowNanos - answeredNanos < GAP_NANOS;
    }
  }

  public ResumedPulls(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /**
   * Announces a seek of the worker, which ends a queue's pull without an answer.
   *
   * @param offset where the next pull is expected
   * @param address of the master whose messages were compared, null if unknown; a pull that
   *     continues at another address is recorded
   */
  public void sought(MessageQueue queue, long offset, String address) {
    sought.put(queue, new Sought(offset, false));
    pulls.put(queue, new Pull(address, address != null, nanoClock.getAsLong()));
  }

  /** Returns whether pulls go on elsewhere than at the offset that was sought. */
  public boolean hasLeft(MessageQueue queue) {
    Sought last = sought.get(queue);
    return last != null && last.left;
  }

  /** Returns a test, true once for each offset at which the queue's pull continued. */
  public LongPredicate of(MessageQueue queue) {
    ConcurrentSkipListSet<Long> offsets = offsets(queue);
    return offset -> {
      if (offsets.isEmpty()) {
        return false;
      }
      offsets.headSet(offset, false).clear();
      return offsets.remove(offset);
    };
  }

  private ConcurrentSkipListSet<Long> offsets(MessageQueue queue) {
    return resumed.computeIfAbsent(queue, absent -> new ConcurrentSkipListSet<>());
  }

  @Override
  public void doBeforeRequest(String address, RemotingCommand request) {
    PullMessageRequestHeader header = consumersPull(request);
    if (header == null) {
      return;
    }
    MessageQueue queue = queue(header);
    long offset = header.getQueueOffset();
    sought.computeIfPresent(
        queue, (same, last) -> last.offset == offset ? last : new Sought(last.offset, true));
    long nowNanos = nanoClock.getAsLong();
    Pull before = pulls.put(queue, new Pull(address, false, nowNanos));
    if (before != null && !before.isFollowedBy(address, nowNanos)) {
      offsets(queue).add(offset);
    }
  }

  @Override
  public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
    PullMessageRequestHeader header = consumersPull(request);
    if (header != null && response != null) {
      MessageQueue queue = queue(header);
      long offset = header.getQueueOffset();
      sought.computeIfPresent(queue, (same, last) -> last.offset == offset ? null : last);
      pulls.put(queue, new Pull(address, true, nanoClock.getAsLong()));
    }
  }

  /** Only the consumer's own pulls wait at the broker. */
  private static PullMessageRequestHeader consumersPull(RemotingCommand request) {
    return request.readCustomHeader() instanceof PullMessageRequestHeader header
            && PullSysFlag.hasSuspendFlag(header.getSysFlag())
        ? header
        : null;
  }

  private static MessageQueue queue(PullMessageRequestHeader header) {
    return new MessageQueue(header.getTopic(), header.getBrokerName(), header.getQueueId());
  }
}
