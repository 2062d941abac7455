package org.traceetl.server.consume.broker;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.LongPredicate;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.sysflag.PullSysFlag;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.header.PullMessageRequestHeader;

/**
 * Records where a consumer's pulls continue after one without an answer, or at another address. The
 * client repeats such a pull without a notification; the broker may have lost messages in between.
 * Thread-safe.
 */
public final class ResumedPulls implements RPCHook {
  private final Map<MessageQueue, Pull> pulls = new ConcurrentHashMap<>();

  /** By queue: offsets of resumed pulls that its worker has not reached. */
  private final Map<MessageQueue, ConcurrentSkipListSet<Long>> resumed = new ConcurrentHashMap<>();

  private record Pull(String address, boolean answered) {
    boolean isFollowedBy(String next) {
      return answered && address.equals(next);
    }
  }

  /**
   * Announces a seek of the worker, which ends a queue's pull without an answer.
   *
   * @param address of the master whose messages were compared, null if unknown; a pull that
   *     continues at another address is recorded
   */
  public void sought(MessageQueue queue, String address) {
    pulls.put(queue, new Pull(address, address != null));
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
    Pull before = pulls.put(queue, new Pull(address, false));
    if (before != null && !before.isFollowedBy(address)) {
      offsets(queue).add(header.getQueueOffset());
    }
  }

  @Override
  public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
    PullMessageRequestHeader header = consumersPull(request);
    if (header != null && response != null) {
      pulls.put(queue(header), new Pull(address, true));
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
