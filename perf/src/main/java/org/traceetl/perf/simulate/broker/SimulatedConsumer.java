package org.traceetl.perf.simulate.broker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.sysflag.PullSysFlag;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RequestCode;
import org.apache.rocketmq.remoting.protocol.header.PullMessageRequestHeader;
import org.traceetl.perf.simulate.world.Exchange;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.consume.broker.ObservedAllocation;
import org.traceetl.server.consume.broker.ResumedPulls;
import org.traceetl.server.consume.broker.SpanConsumer;

/**
 * A member of the consumer group: DefaultLitePullConsumer of RocketMQ 5.5.0 with RebalanceService,
 * configured as RocketMqSpanConsumer does. What the server adds to RocketMQ's client, the observed
 * allocation and the resumed pulls, is the server's own.
 */
final class SimulatedConsumer implements SpanConsumer {
  private static final int PULL_BATCH = 32;
  private static final int MAX_CACHED_MESSAGES_PER_QUEUE = 512;
  private static final long MAX_CACHED_BYTES_PER_QUEUE = 4 << 20;
  private static final int MAX_CACHED_MESSAGES = 4_096;
  private static final long ROUTE_POLL_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** ClientConfig.heartbeatBrokerInterval. */
  private static final long HEARTBEAT_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** RebalanceService.waitInterval. */
  private static final long REBALANCE_MILLIS = 20_000;

  /** RebalanceService.minInterval. */
  private static final long MIN_REBALANCE_MILLIS = 1_000;

  /** ClientConfig.mqClientApiTimeout. */
  private static final long API_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** DefaultLitePullConsumer.brokerSuspendMaxTimeMillis. */
  private static final long HOLD_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** DefaultLitePullConsumer.consumerTimeoutMillisWhenSuspend. */
  private static final long PULL_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final RemotingCommand ANSWER = RemotingCommand.createResponseCommand(0, "");

  private record Cached(PulledQueue of, Pulled pulled) {}

  private final RocketMqConfig config;
  private final Client client;
  private final Wire wire;
  private final World world;
  private final String id;
  private final Consumer<Set<MessageQueue>> listener;
  private final SimulatedOffsets offsets;
  private final ObservedAllocation allocation = new ObservedAllocation();
  private final ResumedPulls resumed;

  /** RebalanceImpl.processQueueTable. */
  private final Set<MessageQueue> processed = new TreeSet<>();

  /** AssignedMessageQueue. */
  private final Map<MessageQueue, PulledQueue> assigned = new TreeMap<>();

  private final Deque<Cached> cache = new ArrayDeque<>();

  /** Answered when the cache has messages; null while no thread waits. */
  private Exchange<Boolean> poller;

  /** Answered when the members change; null while the thread does not wait. */
  private Exchange<Boolean> notice;

  private boolean noticed = true;

  SimulatedConsumer(
      RocketMqConfig config,
      Client client,
      Wire wire,
      String id,
      Consumer<Set<MessageQueue>> listener) {
    this.config = config;
    this.client = client;
    this.wire = wire;
    world = client.process.world();
    resumed = new ResumedPulls(client.process.clocks().nanoClock());
    this.id = id;
    this.listener = listener;
    offsets = new SimulatedOffsets(client, config.consumerGroup());
  }

  void start() throws InterruptedException {
    client.refresh();
    client.start("client-routes", ROUTE_POLL_NANOS);
    start("client-heartbeats", this::sendHeartbeats);
    start("client-rebalance", this::rebalanceAtIntervals);
  }

  String id() {
    return id;
  }

  String group() {
    return config.consumerGroup();
  }

  String host() {
    return client.process.host();
  }

  /** Returns whether its connections are open. */
  boolean alive() {
    return client.process.alive() && !client.isClosed();
  }

  // The group

  private void sendHeartbeats() throws InterruptedException {
    while (!client.isClosed()) {
      sendToAll(
          "heartbeat", broker -> broker.group.heartbeat(broker, config.consumerGroup(), this));
      world.sleep(HEARTBEAT_NANOS);
    }
  }

  /** Sends a request to each replica of each broker, one after the other. */
  private void sendToAll(String what, Consumer<Replica> how) throws InterruptedException {
    for (NameServer.Route route : client.routes().values()) {
      for (String address : route.addresses().values()) {
        try {
          client.call(
              what,
              address,
              API_TIMEOUT_NANOS,
              (broker, to) -> {
                how.accept(broker);
                to.answer(Reply.of(true));
              });
        } catch (RemotingException | MQBrokerException e) {
          // The client logs it, and continues with the next broker.
        }
      }
    }
  }

  /** A thread of the client. */
  private interface Body {
    void run() throws InterruptedException;
  }

  private void start(String name, Body body) {
    client.process.start(
        name,
        () -> {
          try {
            body.run();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  /** The broker informs the client that the group has other members. */
  void membersChanged() {
    noticed = true;
    if (notice != null) {
      notice.answer(true);
    }
  }

  /** RebalanceService.run, which goes by the wall clock. */
  private void rebalanceAtIntervals() throws InterruptedException {
    Process process = client.process;
    long lastMillis = process.clocks().millis();
    long waitMillis = REBALANCE_MILLIS;
    while (!client.isClosed()) {
      if (!noticed) {
        notice = new Exchange<>(world);
        notice.await(TimeUnit.MILLISECONDS.toNanos(waitMillis));
        notice = null;
      }
      noticed = false;
      long sinceMillis = process.clocks().millis() - lastMillis;
      if (sinceMillis < MIN_REBALANCE_MILLIS) {
        waitMillis = MIN_REBALANCE_MILLIS - sinceMillis;
      } else if (!client.isClosed()) {
        waitMillis = rebalanceOnce() ? REBALANCE_MILLIS : MIN_REBALANCE_MILLIS;
        lastMillis = process.clocks().millis();
      }
    }
  }

  @Override
  public void rebalance() {
    try {
      rebalanceOnce();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** RebalanceImpl.rebalanceByTopic; returns whether the allocation is in force. */
  private boolean rebalanceOnce() throws InterruptedException {
    List<MessageQueue> all = client.readable(config.topic());
    List<String> members = members();
    if (all.isEmpty()) {
      changed(List.of());
      return true;
    }
    if (members == null) {
      return true;
    }
    List<MessageQueue> mine = allocation.allocate(config.consumerGroup(), id, all, members);
    if (update(mine)) {
      changed(mine);
    }
    return processed.equals(new TreeSet<>(mine));
  }

  /**
   * MQClientInstance.findConsumerIdList: of one broker, drawn; null if it does not answer, or
   * refuses because the group has no members.
   */
  private List<String> members() throws InterruptedException {
    List<NameServer.Route> routes = new ArrayList<>(client.routes().values());
    if (routes.isEmpty()) {
      return null;
    }
    String address = routes.get(world.random().nextInt(routes.size())).any();
    try {
      return client.call(
          "members",
          address,
          API_TIMEOUT_NANOS,
          (broker, to) -> to.answer(broker.members.answer(config.consumerGroup())));
    } catch (RemotingException | MQBrokerException e) {
      return null;
    }
  }

  /** RebalanceImpl.updateProcessQueueTableInRebalance; returns whether the queues changed. */
  private boolean update(List<MessageQueue> mine) {
    boolean changed = false;
    for (Iterator<MessageQueue> each = processed.iterator(); each.hasNext(); ) {
      MessageQueue queue = each.next();
      if (!mine.contains(queue)) {
        each.remove();
        drop(assigned.get(queue));
        changed = true;
      }
    }
    for (MessageQueue queue : mine) {
      if (!processed.contains(queue) && hasOffset(queue)) {
        processed.add(queue);
        changed = true;
      }
    }
    return changed;
  }

  /** A queue whose offset cannot be read is not added: computePullFromWhere. */
  private boolean hasOffset(MessageQueue queue) {
    try {
      offsets.committed(queue);
      return true;
    } catch (MQClientException e) {
      return false;
    }
  }

  private static void drop(PulledQueue queue) {
    if (queue != null) {
      queue.dropped = true;
    }
  }

  /** DefaultLitePullConsumerImpl.updateAssignQueueAndStartPullTask, then the server's listener. */
  private void changed(List<MessageQueue> mine) {
    if (client.isClosed()) {
      return;
    }
    for (Iterator<PulledQueue> each = assigned.values().iterator(); each.hasNext(); ) {
      PulledQueue queue = each.next();
      if (!mine.contains(queue.queue)) {
        queue.dropped = true;
        each.remove();
      }
    }
    for (MessageQueue queue : mine) {
      PulledQueue before = assigned.get(queue);
      if (before == null || before.dropped) {
        PulledQueue added = new PulledQueue(queue);
        assigned.put(queue, added);
        pull(added);
      }
    }
    Set<MessageQueue> given = new TreeSet<>(mine);
    allocation.handedOver(given);
    listener.accept(given);
  }

  // Pulls

  private void pull(PulledQueue queue) {
    queue.task = new PullTask(this, queue, world);
    client.process.start("client-pull-" + queue.queue.getQueueId(), queue.task);
  }

  boolean isFull(PulledQueue queue) {
    return cache.size() * PULL_BATCH > MAX_CACHED_MESSAGES
        || queue.cachedMessages > MAX_CACHED_MESSAGES_PER_QUEUE
        || queue.cachedBytes > MAX_CACHED_BYTES_PER_QUEUE;
  }

  /** Returns where to begin: the group's offset, else 0 (CONSUME_FROM_FIRST_OFFSET). */
  long firstOffset(MessageQueue queue) throws MQClientException {
    return Math.max(0, offsets.committed(queue));
  }

  /** Returns messages from an offset; waits for them at the broker. */
  Pulled pull(MessageQueue queue, long offset)
      throws MQClientException, RemotingException, MQBrokerException, InterruptedException {
    NameServer.Route route = client.routes().get(queue.getBrokerName());
    // PullAPIWrapper.pullKernelImpl: the master; without one, any replica.
    String address = route == null ? client.knownMaster(queue.getBrokerName()) : route.any();
    LogQueue log = client.queue(queue);
    RemotingCommand request = request(queue, offset);
    resumed.doBeforeRequest(address, request);
    Pulled pulled =
        client.call(
            "pull",
            address,
            PULL_TIMEOUT_NANOS,
            (broker, to) -> broker.pullOrWait(log, offset, PULL_BATCH, HOLD_NANOS, to));
    resumed.doAfterResponse(address, request, ANSWER);
    return pulled;
  }

  private static RemotingCommand request(MessageQueue queue, long offset) {
    PullMessageRequestHeader header = new PullMessageRequestHeader();
    header.setTopic(queue.getTopic());
    header.setBrokerName(queue.getBrokerName());
    header.setQueueId(queue.getQueueId());
    header.setQueueOffset(offset);
    header.setSysFlag(PullSysFlag.buildSysFlag(false, true, true, false));
    return RemotingCommand.createRequestCommand(RequestCode.LITE_PULL_MESSAGE, header);
  }

  /** Returns whether a cancelled pull still delivers. */
  boolean repeatsPull(MessageQueue queue) {
    return wire.conditions(queue.getBrokerName()).happens(Misbehaviour.REPEATED_PULL);
  }

  void received(PulledQueue of, Pulled pulled) {
    of.cachedMessages += pulled.messages().size();
    for (Message message : pulled.messages()) {
      of.cachedBytes += message.body().length;
    }
    cache.add(new Cached(of, pulled));
    if (poller != null) {
      poller.answer(true);
    }
  }

  @Override
  public List<MessageExt> poll(long timeoutMillis) {
    Cached next = next();
    if (next == null) {
      poller = new Exchange<>(world);
      try {
        poller.await(TimeUnit.MILLISECONDS.toNanos(timeoutMillis));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      poller = null;
      next = next();
    }
    return next == null ? List.of() : messages(next);
  }

  private Cached next() {
    Cached next = cache.poll();
    while (next != null && next.of.dropped) {
      next = cache.poll();
    }
    return next;
  }

  private static List<MessageExt> messages(Cached cached) {
    PulledQueue of = cached.of;
    List<Message> stored = cached.pulled.messages();
    List<MessageExt> messages = new ArrayList<>(stored.size());
    String min = Long.toString(cached.pulled.min());
    String max = Long.toString(cached.pulled.max());
    for (Message message : stored) {
      of.cachedBytes -= message.body().length;
      messages.add(message.received(of.queue, min, max));
    }
    of.cachedMessages -= stored.size();
    return messages;
  }

  @Override
  public void pause(MessageQueue queue) {
    PulledQueue paused = assigned.get(queue);
    if (paused != null) {
      paused.paused = true;
    }
  }

  @Override
  public void seek(MessageQueue queue, long offset, String comparedAt) throws MQClientException {
    resumed.sought(queue, offset, comparedAt);
    if (!assigned.containsKey(queue)) {
      throw new MQClientException(
          "The message queue is not in assigned list, may be rebalancing: " + queue, null);
    }
    long min = offsets.min(queue);
    long max = offsets.max(queue);
    if (offset < min || offset > max) {
      throw new MQClientException("Seek offset illegal, seek offset = " + offset, null);
    }
    PulledQueue sought = assigned.get(queue);
    if (sought == null) {
      return; // dropped meanwhile
    }
    cache.removeIf(cached -> cached.of.queue.equals(queue));
    sought.cachedMessages = 0;
    sought.cachedBytes = 0;
    sought.task.cancel();
    sought.seekOffset = offset;
    sought.paused = false;
    pull(sought);
  }

  // Other

  @Override
  public int queueCount() throws MQClientException {
    try {
      return client
          .queues(config.topic(), client.route(config.topic(), API_TIMEOUT_NANOS), false)
          .size();
    } catch (RemotingException e) {
      throw new MQClientException("Can not find Message Queue for this topic", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MQClientException("interrupted", e);
    }
  }

  @Override
  public boolean hasLeft(MessageQueue queue) {
    return resumed.hasLeft(queue);
  }

  @Override
  public LongPredicate resumedPulls(MessageQueue queue) {
    return resumed.of(queue);
  }

  @Override
  public BrokerOffsets offsets() {
    return offsets;
  }

  @Override
  public long rebalances() {
    return allocation.rebalances();
  }

  @Override
  public Set<MessageQueue> queues() {
    return allocation.queues();
  }

  @Override
  public boolean isWithheld(MessageQueue queue) {
    return allocation.isWithheld(queue);
  }

  @Override
  public Set<MessageQueue> lost() {
    return allocation.lost();
  }

  @Override
  public void close() {
    if (client.isClosed()) {
      return;
    }
    client.close();
    assigned.values().forEach(queue -> queue.dropped = true);
    membersChanged();
    try {
      sendToAll("leave", broker -> broker.group.leave(broker, config.consumerGroup(), id));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
