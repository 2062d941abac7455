package org.traceetl.testkit;

import java.util.List;
import java.util.Optional;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.body.BrokerReplicasInfo.ReplicasInfo;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/** The controllers' view of the replicas of one broker name. For one thread. */
final class ReplicaSet implements AutoCloseable {
  private static final long TIMEOUT_MILLIS = 3_000;

  private final String brokerName;
  private final List<String> controllers;
  private final DefaultMQAdminExt admin = new DefaultMQAdminExt(TIMEOUT_MILLIS);

  /**
   * @param nameServer {@code host:port}
   * @param controllers {@code host:port} of each
   */
  ReplicaSet(String nameServer, String brokerName, List<String> controllers)
      throws MQClientException {
    this.brokerName = brokerName;
    this.controllers = List.copyOf(controllers);
    admin.setNamesrvAddr(nameServer);
    admin.setInstanceName("replicas-of-" + brokerName);
    admin.start();
  }

  /** Returns the master's address and the in-sync replicas; empty if no controller answers. */
  Optional<ReplicasInfo> state() throws InterruptedException {
    for (String controller : controllers) {
      try {
        ReplicasInfo info =
            admin
                .getInSyncStateData(controller, List.of(brokerName))
                .getReplicasInfoTable()
                .get(brokerName);
        if (info != null) {
          return Optional.of(info);
        }
      } catch (RemotingException | MQBrokerException e) {
        // This controller is down, or knows no leader now; ask the next one.
      }
    }
    return Optional.empty();
  }

  /**
   * Returns whether a replica knows so many queues of a topic; it copies the master's topics every
   * ten seconds.
   */
  boolean hasTopic(String address, String topic, int queues) throws InterruptedException {
    try {
      TopicConfig config = admin.examineTopicConfig(address, topic);
      return config != null && config.getWriteQueueNums() >= queues;
    } catch (RemotingException | MQBrokerException e) {
      return false;
    }
  }

  @Override
  public void close() {
    admin.shutdown();
  }
}
