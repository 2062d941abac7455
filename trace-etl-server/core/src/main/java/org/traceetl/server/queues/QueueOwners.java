package org.traceetl.server.queues;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.server.rocketmq.Announcement;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;

/**
 * Whom the consumer group gives each queue to: each member works that out for itself from the names
 * of all, so anybody can. It asks the client's own strategy, which is the one that servers have.
 */
final class QueueOwners {
  private QueueOwners() {}

  /**
   * @param members names of the group's clients
   * @param queues all of the topic
   * @return without those of members that announce no endpoint
   */
  static Map<QueueId, Endpoint> of(Collection<String> members, Collection<QueueId> queues) {
    List<String> names = new ArrayList<>(new TreeSet<>(members));
    List<MessageQueue> sorted = new ArrayList<>();
    for (QueueId queue : new TreeSet<>(queues)) {
      sorted.add(new MessageQueue("", queue.broker(), queue.queue()));
    }
    Map<QueueId, Endpoint> owners = new HashMap<>();
    if (sorted.isEmpty()) {
      return owners;
    }
    var strategy = new AllocateMessageQueueAveragely();
    for (String name : names) {
      Announcement.read(name)
          .ifPresent(endpoint ->
              strategy
                  .allocate("group", name, sorted, names)
                  .forEach(queue ->
                      owners.put(
                          new QueueId(queue.getBrokerName(), queue.getQueueId()), endpoint)));
    }
    return owners;
  }
}
