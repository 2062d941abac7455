package org.traceetl.perf.simulate.broker;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.rocketmq.logging.ch.qos.logback.classic.Level;
import org.apache.rocketmq.logging.ch.qos.logback.classic.LoggerContext;
import org.apache.rocketmq.logging.org.slf4j.Logger;
import org.apache.rocketmq.logging.org.slf4j.LoggerFactory;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.publish.Transport;
import org.traceetl.common.Clocks;
import org.traceetl.perf.simulate.world.Durable;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.broker.SpanConsumer;
import org.traceetl.server.features.backfill.SpanTopic;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.rocketmq.Announcement;

/**
 * A RocketMQ cluster in a simulated world: brokers with replicas, controllers and a name server. It
 * gives each process the clients that agents and servers use, and lets a schedule disturb it.
 *
 * <p>Brokers are named {@code broker-1} and so on. Methods that disturb have no effect if they do
 * not apply. All calls come from the world's thread.
 */
public final class SimulatedCluster implements Durable {
  private static final long TICK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** As that of SpanTopic. */
  private static final long SPANS_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final String REPLICA = "replica-";

  private final World world;
  private final Topics topics;
  private final Wire wire;
  private final NameServer names = new NameServer();
  private final List<BrokerGroup> groups = new ArrayList<>();
  private int clients;

  public SimulatedCluster(World world, ClusterOptions options) {
    turnOffLogOfRocketMq();
    this.world = world;
    topics = new Topics(options);
    wire = new Wire(world);
    for (int number = 1; number <= options.brokers(); number++) {
      BrokerGroup group =
          new BrokerGroup(
              "broker-" + number,
              world,
              wire,
              names,
              topics,
              options,
              groups.size() * options.replicas() + 1);
      groups.add(group);
      wire.add(group);
    }
    world.after(TICK_NANOS, this::tick);
  }

  /**
   * Turns off RocketMQ's own log in this JVM. Its appenders have threads outside of the world, and
   * a simulated thread that logs would wait for the locks of these.
   */
  private static void turnOffLogOfRocketMq() {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    if (context.getLogger(Logger.ROOT_LOGGER_NAME).getLevel() != Level.OFF) {
      context.reset();
      context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.OFF);
    }
  }

  private void tick() {
    groups.forEach(BrokerGroup::tick);
    world.after(TICK_NANOS, this::tick);
  }

  /** Receives the messages that brokers store. */
  @FunctionalInterface
  public interface Observer {
    /**
     * A master has stored a message, which may still be lost.
     *
     * @param body must not be changed
     */
    void stored(String broker, int queue, byte[] body);
  }

  /** Adds a receiver of each message of a topic that a master stores from now on. */
  public void observe(String topic, Observer observer) {
    int index = topics.index(topic);
    for (BrokerGroup group : groups) {
      group.observe(message -> {
        if (message.queue().topic() == index) {
          observer.stored(group.name(), message.queue().queue(), message.body());
        }
      });
    }
  }

  // Clients

  private Client client(Process process) {
    clients++;
    return new Client(process, wire, names, topics, clients);
  }

  /** Returns how an agent's process connects. */
  public Transport.Connector transports(Process process) {
    return (config, agent) -> transport(process, config.rocketmq());
  }

  Transport transport(Process process, PublishConfig config) {
    return new SimulatedTransport(config, client(process), wire);
  }

  /** Returns how a server's process connects. */
  public Brokers brokers(Process process) {
    return new Brokers() {
      @Override
      public SpanConsumer.Connector consumers(RocketMqConfig config, Clocks clocks) {
        return (worker, endpoint, pullThreads, assigned) -> {
          Client client = client(process);
          String instance =
              Announcement.instance(
                  process.name() + "-" + world.unixMillis() + "-" + world.nanos() + "-" + worker,
                  endpoint);
          // ClientConfig.buildMQClientId; consumers use streams.
          String id = client.host.getAddress().getHostAddress() + "@" + instance + "@STREAM";
          SimulatedConsumer consumer = new SimulatedConsumer(config, client, wire, id, assigned);
          try {
            consumer.start();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return consumer;
        };
      }

      @Override
      public BrokerLogs logs(RocketMqConfig config, String topic, Duration timeout, Clocks clocks) {
        return new SimulatedLogs(config, topic, timeout.toNanos(), client(process));
      }
    };
  }

  /** Returns the topic of the spans as the process of a backfill reads it. */
  public SpanTopic spans(Process process, RocketMqConfig config) {
    SimulatedLogs logs =
        new SimulatedLogs(config, config.topic(), SPANS_TIMEOUT_NANOS, client(process));
    return new SpanTopic(logs, queue -> logs.open(config.topic(), queue)::messages);
  }

  @Override
  public void write(DataOutputStream to) throws IOException {
    to.writeInt(groups.size());
    for (BrokerGroup group : groups) {
      group.write(to);
    }
    // At the end, which builds without ages do not read: they continue with the states of later
    // builds after a rollback.
    for (BrokerGroup group : groups) {
      group.writeAges(to);
    }
  }

  @Override
  public void read(DataInputStream from) throws IOException {
    int recorded = from.readInt();
    if (recorded > groups.size()) {
      throw new IOException(recorded + " brokers do not fit into " + groups.size());
    }
    List<BrokerGroup> continued = groups.subList(0, recorded);
    for (BrokerGroup group : continued) {
      group.read(from);
    }
    if (from.available() > 0) {
      for (BrokerGroup group : continued) {
        group.readAges(from);
      }
    }
    continued.forEach(BrokerGroup::lead);
  }

  // Faults

  private void at(String broker, Consumer<BrokerGroup> does) {
    for (BrokerGroup group : groups) {
      if (group.name().equals(broker)) {
        does.accept(group);
      }
    }
  }

  /** Returns a broker with its replicas. */
  BrokerGroup group(String broker) {
    return groups.stream().filter(group -> group.name().equals(broker)).findFirst().orElseThrow();
  }

  /** Kills a broker's master: what it stored stays, its members and newest offsets are lost. */
  public void crash(String broker) {
    at(broker, group -> group.crash(group.master(), false));
  }

  /** Kills one replica of a broker, from 0. */
  public void crash(String broker, int replica) {
    at(broker, group -> group.crash(group.replicas().get(replica), false));
  }

  /**
   * The host of a broker's master loses power: connections stay open and silent, and what the disk
   * does not have is lost. With {@code syncFlush} that is what was not answered.
   *
   * @param stallNanos for which its disk flushes nothing, before the power is lost
   */
  public void losePower(String broker, long stallNanos) {
    at(
        broker,
        group -> {
          Replica master = group.master();
          master.stallFlushes();
          world.after(
              stallNanos,
              () -> {
                group.crash(master, true);
                master.losePower();
              });
        });
  }

  /** Returns whether clients can find all brokers now, and the masters run. */
  public boolean isWhole() {
    return names.routes().size() == groups.size()
        && groups.stream().allMatch(group -> group.master().isUp());
  }

  /** Returns how often clients could not find a broker any more. */
  public int lostRoutes() {
    return names.removals();
  }

  /** Returns how often replicas lost messages that consumers could read. */
  public int readLosses() {
    return groups.stream()
        .flatMap(group -> group.replicas().stream())
        .mapToInt(replica -> replica.store().readLosses())
        .sum();
  }

  /** Returns how often brokers lost messages whose senders had received SEND_OK. */
  public int confirmedLosses() {
    return groups.stream().mapToInt(BrokerGroup::confirmedLosses).sum();
  }

  /**
   * Returns how many of these losses a new master caused that lost power before its disk had what
   * it had copied as a replica: replicas confirm messages some milliseconds before they flush them.
   */
  public int unflushedLosses() {
    return groups.stream().mapToInt(BrokerGroup::unflushedLosses).sum();
  }

  /** Lets a broker lose a queue's messages from an offset, as a machine restored from a copy. */
  void loseFrom(String broker, String topic, int queue, long offset) {
    at(broker, group -> group.master().loseFrom(topics.queue(topic, queue), offset));
  }

  /** Starts all replicas of a broker that do not run. */
  public void start(String broker) {
    at(broker, group -> group.replicas().forEach(group::start));
  }

  /** Starts one replica of a broker that does not run. */
  public void start(String broker, int replica) {
    at(broker, group -> group.start(group.replicas().get(replica)));
  }

  /**
   * Elects another replica. The superseded master continues until it learns it.
   *
   * @param messages unconfirmed messages at the end of each queue that are lost, at most
   */
  public void failOver(String broker, int messages) {
    at(broker, group -> group.failOver(messages));
  }

  /** Delays the copies of one replica; 0 ends it. */
  public void lag(String broker, int replica, long nanos) {
    at(broker, group -> group.lag(group.replicas().get(replica), nanos));
  }

  /** Lets each replica of a broker refuse messages because its disk is full. */
  public void fillDisk(String broker, boolean full) {
    at(broker, group -> group.replicas().forEach(replica -> replica.diskFull(full)));
  }

  /** Sets the wall clock of each replica of a broker forward, or back. */
  public void stepClock(String broker, long millis) {
    at(broker, group -> group.replicas().forEach(replica -> replica.stepClock(millis)));
  }

  /**
   * Sets how often a broker misbehaves.
   *
   * @param rate of requests, 0 to 1
   * @param mostNanos the longest delay of what is late or repeated
   */
  public void misbehave(String broker, Misbehaviour how, double rate, long mostNanos) {
    at(broker, group -> group.conditions().set(how, rate, mostNanos));
  }

  /**
   * Drops what one node sends to another: a process by its host, a broker with all its replicas,
   * one replica as {@code replica-1} and so on through all brokers, {@code name-server} or {@code
   * controllers}.
   */
  public void cut(String from, String to) {
    nodes(from).forEach(one -> nodes(to).forEach(other -> wire.cut(one, other)));
  }

  /** Ends {@link #cut}. */
  public void join(String from, String to) {
    nodes(from).forEach(one -> nodes(to).forEach(other -> wire.join(one, other)));
  }

  /** Returns a broker's replicas as nodes of the network, the master first. */
  public List<String> addresses(String broker) {
    List<String> addresses = new ArrayList<>();
    at(
        broker,
        group -> {
          addresses.add(group.master().address);
          group.replicas().stream()
              .filter(replica -> replica != group.master())
              .forEach(replica -> addresses.add(replica.address));
        });
    return addresses;
  }

  private List<String> nodes(String name) {
    if (name.startsWith(REPLICA)) {
      int number = Integer.parseInt(name.substring(REPLICA.length()));
      return groups.stream()
          .flatMap(group -> group.replicas().stream())
          .skip(number - 1)
          .limit(1)
          .map(replica -> replica.address)
          .toList();
    }
    List<String> addresses = addresses(name);
    return addresses.isEmpty() ? List.of(name) : addresses;
  }

  /** Each broker forgets a member until its next heartbeat: queues move away and back. */
  public void rebalance() {
    groups.forEach(BrokerGroup::forgetMember);
  }

  /**
   * Deletes old messages of a broker that no group has still to read: it keeps them for much longer
   * than a group is away.
   *
   * @param olderNanos only messages that were stored longer ago
   */
  public void deleteOld(String broker, long olderNanos) {
    at(
        broker,
        group ->
            group.replicas().forEach(replica -> replica.deleteOld(world.nanos() - olderNanos)));
  }

  /** Sets whether senders see the queues of a broker. */
  public void readOnly(String broker, boolean now) {
    at(broker, group -> group.readOnly(now));
  }

  /** Ends all partitions and misbehaviour, and starts what does not run. */
  public void heal() {
    wire.joinAll();
    for (BrokerGroup group : groups) {
      group.conditions().clear();
      group
          .replicas()
          .forEach(replica -> {
            group.start(replica);
            group.lag(replica, 0);
            replica.diskFull(false);
          });
    }
  }

  /**
   * Adds a queue of half-edges and that of their journal on each broker. Has no effect if there are
   * no such topics, or if it was called before.
   */
  public void addEdgeQueue() {
    topics.addEdgeQueue();
  }

  /** Returns the state for a reader: a line for each broker, replica and cut way. */
  public List<String> describe() {
    List<String> lines = new ArrayList<>();
    groups.forEach(group -> group.toString().lines().forEach(lines::add));
    lines.addAll(wire.describe());
    return lines;
  }
}
