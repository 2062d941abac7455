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
 * Determines to which member the consumer group assigns each queue. Each member computes this from
 * the names of all members, so any server can. It uses the client's own strategy, like the servers.
 */
final class QueueOwners {
  private QueueOwners() {}

  /**
   * Returns the owners of queues whose members announce an endpoint.
   *
   * @param members names of the group's clients
   * @param queues all queues of the topic
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
