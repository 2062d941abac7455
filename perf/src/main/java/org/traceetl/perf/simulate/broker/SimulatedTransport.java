package org.traceetl.perf.simulate.broker;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.remoting.exception.RemotingConnectException;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.publish.DecisionsWatch;
import org.traceetl.agent.publish.Transport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.perf.simulate.broker.Replica.Appended;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.proto.Limits;

/** An agent's transport to the simulated brokers; fails as RocketMqTransport does. */
final class SimulatedTransport implements Transport {
  private static final int NEWEST_MESSAGES = 32;

  private final PublishConfig config;
  private final Client client;
  private final Wire wire;
  private final World world;
  private final long timeoutNanos;

  /** Attempts in the order of their deadlines; ended ones are removed late. */
  private final Deque<Attempt> underWay = new ArrayDeque<>();

  private boolean deadlineArmed;

  SimulatedTransport(PublishConfig config, Client client, Wire wire) {
    this.config = config;
    this.client = client;
    this.wire = wire;
    world = client.process.world();
    timeoutNanos = TimeUnit.MILLISECONDS.toNanos(config.sendTimeoutMillis());
    client.start("client-routes", TimeUnit.MILLISECONDS.toNanos(config.routeRefreshMillis()));
  }

  /** An attempt: its answer is reported once, or its timeout. */
  private final class Attempt implements Wire.Outcome<Appended> {
    private final Answer answer;
    private final long untilNanos = world.nanos() + timeoutNanos;
    private boolean ended;

    Attempt(Answer answer) {
      this.answer = answer;
    }

    /** Returns whether the attempt ends now and its process can receive the outcome. */
    private boolean end() {
      if (ended) {
        return false;
      }
      ended = true;
      return client.process.alive();
    }

    @Override
    public void answered(Reply<Appended> reply) {
      if (!end()) {
        return;
      }
      if (reply.code() == ResponseCode.MESSAGE_ILLEGAL) {
        answer.refused("MQBrokerException: " + reply.remark());
      } else if (reply.code() != ResponseCode.SUCCESS) {
        answer.failed(Failure.BROKER, "MQBrokerException: " + reply.remark());
      } else if (reply.value().status() == SendStatus.SEND_OK) {
        answer.confirmed();
      } else {
        answer.failed(
            failure(reply.value().status()),
            "the broker stored it and answered " + reply.value().status());
      }
    }

    @Override
    public void failed(RemotingException failure) {
      if (end()) {
        answer.failed(
            failure instanceof RemotingConnectException ? Failure.CONNECT : Failure.CLIENT,
            failure.toString());
      }
    }

    void timeOut() {
      if (end()) {
        answer.failed(Failure.TIMEOUT, "RemotingTimeoutException");
      }
    }
  }

  private static Failure failure(SendStatus status) {
    return switch (status) {
      case FLUSH_DISK_TIMEOUT -> Failure.FLUSH_DISK_TIMEOUT;
      case FLUSH_SLAVE_TIMEOUT -> Failure.FLUSH_SLAVE_TIMEOUT;
      case SLAVE_NOT_AVAILABLE -> Failure.SLAVE_NOT_AVAILABLE;
      case SEND_OK -> throw new IllegalArgumentException();
    };
  }

  @Override
  public void send(BrokerQueue queue, byte[] body, Supplier<String> ages, Answer answer) {
    client.process.enter("send");
    if (body.length > Limits.MAX_MESSAGE_BYTES) {
      // Validators.checkMessage, with producer.setMaxMessageSize.
      answer.refused("MQClientException: the message body size over max value");
      return;
    }
    LogQueue log = client.topics.queue(queue.topic().name(config), queue.id());
    String address = client.master(queue.broker());
    if (address == null || log == null) {
      answer.failed(
          Failure.CLIENT, "MQClientException: The broker[" + queue.broker() + "] not exist");
      return;
    }
    long bornMillis = client.process.clocks().millis();
    String stated = ages.get();
    Attempt attempt = new Attempt(answer);
    removeEnded();
    underWay.add(attempt);
    wire.post(
        client.process,
        address,
        (broker, to) -> broker.append(log, body, stated, bornMillis, client.host, to),
        attempt);
    armDeadline();
  }

  private void removeEnded() {
    while (!underWay.isEmpty() && underWay.getFirst().ended) {
      underWay.removeFirst();
    }
  }

  /** One timer serves all attempts. */
  private void armDeadline() {
    removeEnded();
    if (deadlineArmed || underWay.isEmpty()) {
      return;
    }
    deadlineArmed = true;
    world.after(
        Math.max(0, underWay.getFirst().untilNanos - world.nanos()),
        () -> {
          deadlineArmed = false;
          while (!underWay.isEmpty() && underWay.getFirst().untilNanos <= world.nanos()) {
            underWay.removeFirst().timeOut();
          }
          armDeadline();
        });
  }

  @Override
  public List<BrokerQueue> queues() throws IOException {
    try {
      SortedMap<String, NameServer.Route> routes = client.route(config.topic(), timeoutNanos);
      List<BrokerQueue> queues =
          client.queues(config.topic(), routes, true).stream()
              .map(queue -> new BrokerQueue(queue.getBrokerName(), queue.getQueueId()))
              .toList();
      if (queues.isEmpty()) {
        throw new IOException("topic " + config.topic() + " has no writable queue");
      }
      return queues;
    } catch (MQClientException | RemotingException e) {
      throw new IOException("Cannot read the route of topic " + config.topic(), e);
    } catch (InterruptedException e) {
      throw interrupted(config.topic(), e);
    }
  }

  private static IOException interrupted(String topic, InterruptedException e) {
    Thread.currentThread().interrupt();
    return new IOException("topic " + topic + " was not read: interrupted", e);
  }

  @Override
  public DecisionsWatch.Newest newest(String topic, DecisionsWatch.Place known) throws IOException {
    try {
      SortedMap<String, NameServer.Route> routes = client.route(topic, timeoutNanos);
      String broker = routes.firstKey();
      String address = routes.get(broker).any();
      LogQueue queue = client.topics.queue(topic, 0);
      long end =
          client.call(
              "end",
              address,
              timeoutNanos,
              (there, to) -> to.answer(Reply.of(there.store().max(queue))));
      DecisionsWatch.Place place = new DecisionsWatch.Place(broker, end);
      return new DecisionsWatch.Newest(
          place, place.equals(known) ? List.of() : read(address, queue, end));
    } catch (MQClientException e) {
      return new DecisionsWatch.Newest(DecisionsWatch.Place.NONE, List.of());
    } catch (MQBrokerException | RemotingException e) {
      throw new IOException("topic " + topic + " cannot be read (" + e.getMessage() + ")", e);
    } catch (InterruptedException e) {
      throw interrupted(topic, e);
    }
  }

  private List<byte[]> read(String address, LogQueue queue, long end)
      throws RemotingException, MQBrokerException, InterruptedException {
    List<byte[]> bodies = new ArrayList<>();
    long offset = Math.max(0, end - NEWEST_MESSAGES);
    while (offset < end) {
      long from = offset;
      Pulled pulled =
          client.call(
              "read",
              address,
              timeoutNanos,
              (there, to) -> to.answer(Reply.of(there.pull(queue, from, NEWEST_MESSAGES))));
      if (pulled.status() == PullStatus.FOUND) {
        pulled.messages().forEach(message -> bodies.add(message.body()));
      }
      if (pulled.next() <= offset) {
        return bodies;
      }
      offset = pulled.next();
    }
    return bodies;
  }

  @Override
  public void close() {
    client.close();
  }
}
