package org.traceetl.server.journal.log;

import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.constant.PermName;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;
import org.apache.rocketmq.remoting.protocol.route.QueueData;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;
import org.traceetl.common.Clocks;
import org.traceetl.common.Reason;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.rocketmq.RocketMqAccess;
import org.traceetl.server.window.QueueId;

/**
 * The logs in a RocketMQ topic: queue i of a broker is the log of the span topic's queue i on that
 * broker. All logs share one client. It is a producer's, which belongs to no consumer group and so
 * causes no rebalance.
 */
public final class RocketMqLogs implements BrokerLogs {
  private static final String PRODUCER_GROUP = "trace-etl-journal";

  private final RocketMqConfig config;
  private final String topic;
  private final Duration timeout;
  private final Clocks clocks;

  /** Null if brokers require no credentials. */
  private final RPCHook hook;

  private final DefaultMQProducer producer;

  /**
   * Creates a client that is not started.
   *
   * @param config of the spans
   * @param topic of the logs
   * @param timeout after which the outcome of a call is unknown
   * @throws TlsRefused if TLS cannot be set up as configured
   */
  public RocketMqLogs(RocketMqConfig config, String topic, Duration timeout, Clocks clocks) {
    this.config = config;
    this.topic = topic;
    this.timeout = timeout;
    this.clocks = clocks;
    hook = RocketMqAccess.hook(config);
    producer = new DefaultMQProducer(PRODUCER_GROUP, hook);
    producer.setNamesrvAddr(config.nameServer());
    RocketMqAccess.secure(producer, config);
    producer.setInstanceName(ProcessHandle.current().pid() + "-" + clocks.nanos() + "-journal");
    producer.setSendMsgTimeout(Math.toIntExact(timeout.toMillis()));
    // The owner decides whether to repeat a record, after it has read the log.
    producer.setRetryTimesWhenSendFailed(0);
    producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
  }

  @Override
  public void start() throws IOException {
    try {
      producer.start();
    } catch (MQClientException e) {
      throw new IOException("The RocketMQ client for topic " + topic + " did not start", e);
    }
  }

  @Override
  public JournalLog open(QueueId queue) throws IOException, InterruptedException {
    MQClientInstance client = client();
    TopicRouteData route = route(client, topic);
    int queues = route == null ? 0 : queues(route, queue.broker());
    if (queue.queue() >= queues && topic.equals(config.topic())) {
      throw new IOException("Topic " + topic + " no longer has queue " + queue);
    }
    if (queue.queue() >= queues) {
      throw new IOException(missing(queue, queues, route(client, config.topic())));
    }
    return open(client, topic, queue);
  }

  @Override
  public QueueId lowest(String other) throws IOException, InterruptedException {
    TopicRouteData route = route(client(), other);
    return route == null
        ? null
        : queues(route).stream()
            .min(Comparator.naturalOrder())
            .orElseThrow(() -> new IOException("Topic " + other + " has no queue"));
  }

  @Override
  public RocketMqLog open(String other, QueueId queue) {
    return open(client(), other, queue);
  }

  private RocketMqLog open(MQClientInstance client, String name, QueueId queue) {
    // The client refreshes the routes of the topics in this map, and so finds new masters.
    producer
        .getDefaultMQProducerImpl()
        .getTopicPublishInfoTable()
        .putIfAbsent(name, new TopicPublishInfo());
    return new RocketMqLog(
        producer,
        client,
        new MessageQueue(name, queue.broker(), queue.queue()),
        config,
        timeout,
        clocks.wall());
  }

  @Override
  public Set<QueueId> queues(String other) throws IOException, InterruptedException {
    TopicRouteData route = route(client(), other);
    Set<QueueId> all = new HashSet<>();
    for (QueueData data : route == null ? List.<QueueData>of() : route.getQueueDatas()) {
      if (PermName.isReadable(data.getPerm()) && PermName.isWriteable(data.getPerm())) {
        add(data, Math.min(data.getReadQueueNums(), data.getWriteQueueNums()), all);
      }
    }
    return all;
  }

  @Override
  public Set<QueueId> queues() throws IOException, InterruptedException {
    return queues(route(client(), topic));
  }

  @Override
  public Set<QueueId> spanQueues() throws IOException, InterruptedException {
    return queues(route(client(), config.topic()));
  }

  @Override
  public Set<QueueId> readableSpanQueues() throws IOException, InterruptedException {
    TopicRouteData route = route(client(), config.topic());
    Set<QueueId> all = new HashSet<>();
    for (QueueData data : route == null ? List.<QueueData>of() : route.getQueueDatas()) {
      if (PermName.isReadable(data.getPerm())) {
        add(data, data.getReadQueueNums(), all);
      }
    }
    return all;
  }

  private static void add(QueueData data, int queues, Set<QueueId> all) {
    for (int queue = 0; queue < queues; queue++) {
      all.add(new QueueId(data.getBrokerName(), queue));
    }
  }

  @Override
  public Set<String> members() throws IOException, InterruptedException {
    MQClientInstance client = client();
    TopicRouteData route = route(client, config.topic());
    Set<String> names = new HashSet<>();
    IOException failure = new IOException("Topic " + config.topic() + " is on no broker");
    boolean answered = false;
    for (BrokerData broker : route == null ? List.<BrokerData>of() : route.getBrokerDatas()) {
      try {
        names.addAll(
            client
                .getMQClientAPIImpl()
                .getConsumerIdListByGroup(
                    broker.selectBrokerAddr(), config.consumerGroup(), timeout.toMillis()));
        answered = true;
      } catch (MQBrokerException | RemotingException e) {
        failure =
            new IOException(
                "Broker "
                    + broker.getBrokerName()
                    + " did not list the members of group "
                    + config.consumerGroup()
                    + ": "
                    + Reason.of(e),
                e);
      }
    }
    if (!answered) {
      throw failure;
    }
    return names;
  }

  private static Set<QueueId> queues(TopicRouteData route) {
    Set<QueueId> all = new HashSet<>();
    if (route != null) {
      for (QueueData data : route.getQueueDatas()) {
        for (int queue = 0; queue < queues(route, data.getBrokerName()); queue++) {
          all.add(new QueueId(data.getBrokerName(), queue));
        }
      }
    }
    return all;
  }

  private MQClientInstance client() {
    return MQClientManager.getInstance().getOrCreateMQClientInstance(producer, hook);
  }

  /** Returns a topic's route; null if there is no such topic. */
  private TopicRouteData route(MQClientInstance client, String name)
      throws IOException, InterruptedException {
    try {
      return client.getMQClientAPIImpl().getTopicRouteInfoFromNameServer(name, timeout.toMillis());
    } catch (MQClientException e) {
      if (e.getResponseCode() == ResponseCode.TOPIC_NOT_EXIST) {
        return null;
      }
      throw new IOException("Name server " + config.nameServer() + " on topic " + name, e);
    } catch (RemotingException e) {
      throw new IOException("Name server " + config.nameServer() + " does not answer", e);
    }
  }

  /** Returns the number of a broker's queues that can be both written and read. */
  private static int queues(TopicRouteData route, String broker) {
    return route.getQueueDatas().stream()
        .filter(data -> data.getBrokerName().equals(broker))
        .mapToInt(data -> Math.min(data.getReadQueueNums(), data.getWriteQueueNums()))
        .max()
        .orElse(0);
  }

  private String missing(QueueId queue, int queues, TopicRouteData spans) {
    String cluster = "CLUSTER";
    int needed = queue.queue() + 1;
    if (spans != null) {
      for (QueueData data : spans.getQueueDatas()) {
        needed = Math.max(needed, data.getReadQueueNums());
      }
      for (BrokerData data : spans.getBrokerDatas()) {
        cluster = data.getCluster();
      }
    }
    return "The journal's topic "
        + topic
        + (queues == 0 ? " is not there on broker " : " has only " + queues + " queues on broker ")
        + queue.broker()
        + ": queue "
        + queue.queue()
        + " of topic "
        + config.topic()
        + " needs its own. Run: mqadmin updateTopic -n '"
        + config.nameServer()
        + "' -c "
        + cluster
        + " -t "
        + topic
        + " -r "
        + needed
        + " -w "
        + needed;
  }

  @Override
  public void close() {
    producer.shutdown();
  }
}
