package org.traceetl.perf.simulate.broker;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingConnectException;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.traceetl.perf.simulate.broker.NameServer.Route;
import org.traceetl.perf.simulate.world.Process;

/**
 * RocketMQ's client in a process: MQClientInstance of RocketMQ 5.5.0. It remembers routes, and
 * reads them again at an interval, so they may be stale.
 */
final class Client {
  private static final long ROUTE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** The first look follows this soon after the start. */
  private static final long FIRST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  final Process process;
  final InetSocketAddress host;
  final Topics topics;
  private final Wire wire;
  private final NameServer names;
  private SortedMap<String, Route> routes = new TreeMap<>();
  private boolean closed;

  Client(Process process, Wire wire, NameServer names, Topics topics, int hostNumber) {
    this.process = process;
    this.wire = wire;
    this.names = names;
    this.topics = topics;
    host = new InetSocketAddress(Wire.address(1, hostNumber), 40_000);
  }

  /**
   * Starts the thread that reads the routes.
   *
   * @param name of the thread
   */
  void start(String name, long intervalNanos) {
    process.start(
        name,
        () -> {
          try {
            process.world().sleep(FIRST_LOOK_NANOS);
            while (!closed) {
              refresh();
              process.world().sleep(intervalNanos);
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  void close() {
    closed = true;
  }

  boolean isClosed() {
    return closed;
  }

  /** Reads the routes; keeps the old ones if the name server does not answer, or knows none. */
  void refresh() throws InterruptedException {
    try {
      SortedMap<String, Route> now = ask(0);
      if (!now.isEmpty()) {
        routes = now;
      }
    } catch (RemotingException e) {
      // MQClientInstance.updateTopicRouteInfoFromNameServer logs it.
    }
  }

  /** Returns the routes that the client remembers. */
  SortedMap<String, Route> routes() {
    return routes;
  }

  /**
   * Reads a topic's route.
   *
   * @throws MQClientException if the topic is on no broker
   */
  SortedMap<String, Route> route(String topic, long timeoutNanos)
      throws MQClientException, RemotingException, InterruptedException {
    SortedMap<String, Route> now = ask(timeoutNanos);
    if (now.isEmpty() || topics.index(topic) < 0) {
      throw new MQClientException(
          ResponseCode.TOPIC_NOT_EXIST, "No topic route info in name server for the topic");
    }
    return now;
  }

  private SortedMap<String, Route> ask(long timeoutNanos)
      throws RemotingException, InterruptedException {
    process.enter("route");
    if (!wire.isOpen(process.host(), NameServer.NODE)) {
      process.world().sleep(timeoutNanos == 0 ? ROUTE_TIMEOUT_NANOS : timeoutNanos);
      throw new RemotingConnectException(NameServer.NODE);
    }
    process.world().sleep(1 + process.world().random().nextLong(TimeUnit.MILLISECONDS.toNanos(1)));
    boolean stale =
        names.routes().keySet().stream()
            .anyMatch(broker -> wire.conditions(broker).happens(Misbehaviour.STALE_ROUTE));
    return stale ? names.routesBefore() : names.routes();
  }

  /** Returns the master's address as remembered: findBrokerAddressInPublish; null if unknown. */
  String master(String broker) {
    Route route = routes.get(broker);
    return route == null ? null : route.master();
  }

  /**
   * Returns the master's address, after a look at the name server if it is unknown.
   *
   * @throws MQClientException if it stays unknown
   */
  String knownMaster(String broker) throws MQClientException, InterruptedException {
    if (master(broker) == null) {
      refresh();
    }
    String address = master(broker);
    if (address == null) {
      throw new MQClientException("The broker[" + broker + "] not exist", null);
    }
    return address;
  }

  /** Returns a topic's queues of the remembered route that consumers share, sorted. */
  List<MessageQueue> readable(String topic) {
    return queues(topic, routes, false);
  }

  /** Returns the queues of a route, sorted. */
  List<MessageQueue> queues(String topic, SortedMap<String, Route> of, boolean writable) {
    List<MessageQueue> all = new ArrayList<>();
    int index = topics.index(topic);
    of.forEach((broker, route) -> {
      // Senders use masters only: MQClientInstance.topicRouteData2TopicPublishInfo.
      boolean usable = !writable || route.writable() && route.master() != null;
      for (int queue = 0; usable && queue < topics.queues(index); queue++) {
        all.add(new MessageQueue(topic, broker, queue));
      }
    });
    return all;
  }

  /** Sends a request to an address, and waits for its answer. */
  <T> T call(String what, String address, long timeoutNanos, Reply.Request<T> request)
      throws RemotingException, MQBrokerException, InterruptedException {
    process.enter(what);
    Reply<T> reply = wire.call(process, address, timeoutNanos, request);
    if (reply.code() != ResponseCode.SUCCESS) {
      throw new MQBrokerException(reply.code(), reply.remark(), address);
    }
    return reply.value();
  }

  /**
   * Returns a queue.
   *
   * @throws MQClientException if the queue does not exist
   */
  LogQueue queue(MessageQueue queue) throws MQClientException {
    LogQueue found = topics.queue(queue.getTopic(), queue.getQueueId());
    if (found == null) {
      throw new MQClientException(ResponseCode.TOPIC_NOT_EXIST, "no queue " + queue);
    }
    return found;
  }
}
