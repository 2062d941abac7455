package org.traceetl.perf.simulate.broker;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.traceetl.perf.simulate.broker.NameServer.Route;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/** The logs of a topic at the simulated brokers, as RocketMqLogs. */
final class SimulatedLogs implements BrokerLogs {
  /** ClientConfig.pollNameServerInterval. */
  private static final long ROUTE_POLL_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final RocketMqConfig config;
  private final String topic;
  private final long timeoutNanos;
  private final Client client;

  SimulatedLogs(RocketMqConfig config, String topic, long timeoutNanos, Client client) {
    this.config = config;
    this.topic = topic;
    this.timeoutNanos = timeoutNanos;
    this.client = client;
  }

  @Override
  public void start() {
    client.start("client-logs", ROUTE_POLL_NANOS);
  }

  @Override
  public JournalLog open(QueueId queue) throws IOException, InterruptedException {
    if (!queues().contains(queue)) {
      throw new IOException("Topic " + topic + " has no queue " + queue);
    }
    return open(topic, queue);
  }

  @Override
  public SimulatedLog open(String other, QueueId queue) {
    return new SimulatedLog(client, other, queue, timeoutNanos);
  }

  @Override
  public QueueId lowest(String other) throws IOException, InterruptedException {
    SortedMap<String, Route> routes = routes(other);
    return routes.isEmpty() ? null : new QueueId(routes.firstKey(), 0);
  }

  @Override
  public Set<QueueId> queues(String other) throws IOException, InterruptedException {
    return queues(other, true);
  }

  @Override
  public Set<QueueId> queues() throws IOException, InterruptedException {
    return queues(topic, false);
  }

  @Override
  public Set<QueueId> spanQueues() throws IOException, InterruptedException {
    return queues(config.topic(), true);
  }

  @Override
  public Set<QueueId> readableSpanQueues() throws IOException, InterruptedException {
    return queues(config.topic(), false);
  }

  private Set<QueueId> queues(String of, boolean writable)
      throws IOException, InterruptedException {
    Set<QueueId> all = new TreeSet<>();
    SortedMap<String, Route> routes = routes(of);
    if (writable) {
      routes = new TreeMap<>(routes);
      routes.values().removeIf(route -> !route.writable());
    }
    for (MessageQueue queue : client.queues(of, routes, false)) {
      all.add(new QueueId(queue.getBrokerName(), queue.getQueueId()));
    }
    return all;
  }

  /** Returns a topic's routes; empty if the topic does not exist. */
  private SortedMap<String, Route> routes(String of) throws IOException, InterruptedException {
    try {
      return client.route(of, timeoutNanos);
    } catch (MQClientException e) {
      return new TreeMap<>();
    } catch (RemotingException e) {
      throw new IOException("The name server does not answer", e);
    }
  }

  @Override
  public Set<String> members() throws IOException, InterruptedException {
    Collection<Route> routes = routes(config.topic()).values();
    Set<String> names = new TreeSet<>();
    IOException failure = new IOException("Topic " + config.topic() + " is on no broker");
    boolean answered = false;
    for (Route route : routes) {
      try {
        List<String> there =
            client.call(
                "members",
                route.any(),
                timeoutNanos,
                (broker, to) -> to.answer(broker.members.answer(config.consumerGroup())));
        names.addAll(there);
        answered = true;
      } catch (MQBrokerException | RemotingException e) {
        failure = new IOException("A broker did not list the members", e);
      }
    }
    if (!answered) {
      throw failure;
    }
    return names;
  }

  @Override
  public void close() {
    client.close();
  }
}
