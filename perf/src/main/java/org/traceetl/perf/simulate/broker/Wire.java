package org.traceetl.perf.simulate.broker;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.remoting.exception.RemotingConnectException;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.exception.RemotingSendRequestException;
import org.apache.rocketmq.remoting.exception.RemotingTimeoutException;
import org.traceetl.perf.simulate.world.Exchange;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;

/**
 * The network between processes, brokers, name server and controllers. Nodes are processes by host,
 * brokers by address. The exceptions are those of NettyRemotingClient (RocketMQ 5.5.0).
 */
final class Wire {
  /** NettyClientConfig.connectTimeoutMillis. */
  private static final long CONNECT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(3);

  private record Way(String from, String to) {}

  private final World world;
  private final Map<String, Replica> replicas = new TreeMap<>();
  private final Map<String, BrokerGroup> groups = new TreeMap<>();
  private final Set<Way> cuts = new HashSet<>();

  Wire(World world) {
    this.world = world;
  }

  /** Returns an address: 10.network.number. */
  static InetAddress address(int network, int number) {
    try {
      byte[] address = {10, (byte) network, (byte) (number >> 8), (byte) number};
      return InetAddress.getByAddress(address);
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  void add(BrokerGroup group) {
    groups.put(group.name(), group);
    group.replicas().forEach(replica -> replicas.put(replica.address, replica));
  }

  /** Returns the conditions of a broker by its name. */
  Conditions conditions(String broker) {
    return groups.get(broker).conditions();
  }

  Replica at(String address) {
    return replicas.get(address);
  }

  /** Drops what one node sends to another. */
  void cut(String from, String to) {
    cuts.add(new Way(from, to));
  }

  void join(String from, String to) {
    cuts.remove(new Way(from, to));
  }

  void joinAll() {
    cuts.clear();
  }

  boolean isCut(String from, String to) {
    return !cuts.isEmpty() && cuts.contains(new Way(from, to));
  }

  /** Returns whether requests and answers arrive. */
  boolean isOpen(String one, String other) {
    return cuts.isEmpty() || !isCut(one, other) && !isCut(other, one);
  }

  /**
   * Sends a request to a broker, and waits for the answer.
   *
   * @return the answer, which may be a refusal
   */
  <T> Reply<T> call(Process from, String address, long timeoutNanos, Reply.Request<T> request)
      throws RemotingException, InterruptedException {
    Replica to = at(address);
    Conditions conditions = to.group.conditions();
    if (isCut(from.host(), address)
        || to.group.isSilent(to)
        || conditions.happens(Misbehaviour.LOST_REQUEST)) {
      throw timeout(address, timeoutNanos, timeoutNanos);
    }
    if (!to.isUp()) {
      world.sleep(conditions.latencyNanos());
      throw new RemotingConnectException(address);
    }
    final long began = world.nanos();
    long started = to.startedAt();
    Exchange<Reply<T>> pending = new Exchange<>(world);
    deliver(conditions, to, request, pending::answer);
    Reply<T> reply = pending.await(timeoutNanos);
    long restNanos = timeoutNanos - (world.nanos() - began);
    // After a pause of the process, either the answer or the end of the time is first:
    // NettyRemotingAbstract.invokeSyncImpl waits by CompletableFuture.get.
    boolean paused = reply != null && restNanos <= 0;
    if (reply == null || paused && world.random().nextBoolean()) {
      throw timeout(address, timeoutNanos, restNanos);
    }
    long wayNanos = answerNanos(conditions, address, from);
    if (!paused && wayNanos >= restNanos || wayNanos == Long.MAX_VALUE) {
      throw timeout(address, timeoutNanos, restNanos);
    }
    world.sleep(paused ? 0 : wayNanos);
    if (reply.code() == Reply.CLOSED || to.startedAt() != started) {
      // NettyRemotingAbstract.failFast, when the channel is closed.
      throw new RemotingSendRequestException(address);
    }
    return reply;
  }

  /** Carries out a request now, or late. */
  private <T> void deliver(
      Conditions conditions, Replica to, Reply.Request<T> request, Reply.To<T> answer) {
    if (!conditions.happens(Misbehaviour.LATE_REQUEST)) {
      request.at(to, answer);
      return;
    }
    world.after(
        conditions.delayNanos(Misbehaviour.LATE_REQUEST),
        () -> {
          if (to.isUp()) {
            request.at(to, answer);
          } else if (!to.group.isSilent(to)) {
            answer.answer(Reply.closed());
          }
        });
  }

  /** Returns how long an answer takes; very long if it is lost. */
  private long answerNanos(Conditions conditions, String address, Process from) {
    if (isCut(address, from.host()) || conditions.happens(Misbehaviour.LOST_ANSWER)) {
      return Long.MAX_VALUE;
    }
    long late =
        conditions.happens(Misbehaviour.LATE_ANSWER)
            ? conditions.delayNanos(Misbehaviour.LATE_ANSWER)
            : 0;
    return 2 * conditions.latencyNanos() + late;
  }

  private RemotingTimeoutException timeout(String address, long timeoutNanos, long restNanos)
      throws InterruptedException {
    world.sleep(Math.max(0, restNanos));
    return new RemotingTimeoutException(address, TimeUnit.NANOSECONDS.toMillis(timeoutNanos));
  }

  /** Receives the outcome of an asynchronous request. */
  interface Outcome<T> {
    /** The broker answered; the answer may be a refusal. */
    void answered(Reply<T> reply);

    void failed(RemotingException failure);
  }

  /** Sends a request; the outcome is reported once, or never if the caller has to time it out. */
  <T> void post(Process from, String address, Reply.Request<T> request, Outcome<T> outcome) {
    Replica to = at(address);
    Conditions conditions = to.group.conditions();
    if (isCut(from.host(), address) || conditions.happens(Misbehaviour.LOST_REQUEST)) {
      return;
    }
    if (!to.isUp()) {
      world.after(
          to.group.isSilent(to) ? CONNECT_TIMEOUT_NANOS : conditions.latencyNanos(),
          () -> outcome.failed(new RemotingConnectException(address)));
      return;
    }
    long started = to.startedAt();
    deliver(
        conditions,
        to,
        request,
        reply -> {
          long wayNanos = answerNanos(conditions, address, from);
          if (wayNanos != Long.MAX_VALUE && !(to.group.isSilent(to))) {
            world.after(
                wayNanos,
                () -> {
                  if (reply.code() != Reply.CLOSED && to.startedAt() == started) {
                    outcome.answered(reply);
                  } else if (!to.group.isSilent(to)) {
                    outcome.failed(new RemotingSendRequestException(address));
                  }
                });
          }
        });
  }

  List<String> describe() {
    List<String> text = new ArrayList<>();
    cuts.forEach(way -> text.add("Nothing arrives from " + way.from() + " at " + way.to()));
    text.sort(null);
    return text;
  }
}
