package org.traceetl.server.consume;

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
 * Notes where a consumer's pulls go on after one that got no answer, or at another address. The
 * client repeats such a pull by itself and tells its user nothing; the broker may have lost
 * messages in between. Safe for any thread.
 */
final class ResumedPulls implements RPCHook {
  private final Map<MessageQueue, Pull> pulls = new ConcurrentHashMap<>();

  /** By queue: offsets of resumed pulls that its worker has not come to. */
  private final Map<MessageQueue, ConcurrentSkipListSet<Long>> resumed = new ConcurrentHashMap<>();

  private record Pull(String address, boolean answered) {
    boolean isFollowedBy(String next) {
      return answered && address.equals(next);
    }
  }

  /**
   * The worker is about to seek, which ends a queue's pull without an answer.
   *
   * @param address where the messages that were read were compared before; null: not known. A pull
   *     that goes on elsewhere is noted
   */
  void sought(MessageQueue queue, String address) {
    pulls.put(queue, new Pull(address, address != null));
  }

  /** Whether a queue's pull went on at an offset. Once for each. */
  LongPredicate of(MessageQueue queue) {
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
