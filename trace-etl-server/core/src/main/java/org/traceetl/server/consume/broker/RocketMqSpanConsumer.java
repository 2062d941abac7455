package org.traceetl.server.consume.broker;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.rocketmq.Announcement;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.rocketmq.RocketMqAccess;

/**
 * A consumer based on RocketMQ's client.
 *
 * <p>RocketMQ assigns queues on its own thread and calls {@link ObservedAllocation}; all other
 * calls come from the worker's thread.
 */
public final class RocketMqSpanConsumer implements SpanConsumer {
  /**
   * A pull waits at the broker, and occupies its thread, until there is a message or some seconds
   * have passed. With fewer threads than queues, idle queues would delay the rest.
   */
  public static final int MIN_PULL_THREADS = 32;

  private static final int PULL_BATCH = 32;

  /**
   * Maximum for messages of one span. Brokers return 32 per pull unless
   * maxTransferCountOnMessageInMemory is higher; the client may request at most 1,024.
   */
  private static final int PULL_SPANS = 1_024;

  private static final int MAX_CACHED_MESSAGES_PER_QUEUE = 512;

  /** Maximum for messages of one span: the bytes per queue have room for them. */
  private static final int MAX_CACHED_SPANS_PER_QUEUE = 8_192;

  /**
   * A tenth of a second at a million spans a second from four queues. More would survive young
   * collections and, with many queues, exceed the heap.
   */
  private static final int MAX_CACHED_MIB_PER_QUEUE = 4;

  private static final int MAX_CACHED_MESSAGES = 4_096;
  private static final int MAX_CACHED_SPANS = 65_536;
  private static final int ROUTE_POLL_MILLIS = 5_000;

  private final DefaultLitePullConsumer consumer;
  private final MQClientInstance client;
  private final String topic;
  private final ObservedAllocation allocation;
  private final BrokerOffsets offsets;
  private final ResumedPulls resumed;

  private RocketMqSpanConsumer(
      DefaultLitePullConsumer consumer,
      RocketMqConfig config,
      ObservedAllocation allocation,
      LongSupplier nanoClock) {
    this.consumer = consumer;
    this.allocation = allocation;
    resumed = new ResumedPulls(nanoClock);
    topic = config.topic();
    client = client(consumer, config);
    offsets = offsets(consumer, config);
    client.getMQClientAPIImpl().getRemotingClient().registerRPCHook(resumed);
  }

  /** Returns a connector to the brokers of a configuration. */
  public static Connector connector(RocketMqConfig config, Clocks clocks) {
    return (worker, endpoint, pullThreads, assigned) ->
        connect(
            config,
            newConsumer(config, worker, endpoint, pullThreads, clocks.nanos()),
            assigned,
            clocks.nanoClock());
  }

  private static SpanConsumer connect(
      RocketMqConfig config,
      DefaultLitePullConsumer consumer,
      Consumer<Set<MessageQueue>> assigned,
      LongSupplier nanoClock)
      throws MQClientException {
    ObservedAllocation allocation = new ObservedAllocation();
    consumer.setAllocateMessageQueueStrategy(allocation);
    try {
      consumer.subscribe(
          config.topic(),
          "*",
          (topic, all, mine) -> {
            allocation.handedOver(Set.copyOf(mine));
            assigned.accept(Set.copyOf(mine));
          });
      consumer.start();
    } catch (MQClientException | RuntimeException e) {
      consumer.shutdown();
      throw e;
    }
    return new RocketMqSpanConsumer(consumer, config, allocation, nanoClock);
  }

  /**
   * Returns a consumer that is not started, with a client identity of its own.
   *
   * @param endpoint announced in its name; null for none
   * @param pullThreads queues that it can wait for at the same time; cannot be changed later
   * @param nowNanos makes its identity differ from those of earlier processes
   */
  public static DefaultLitePullConsumer newConsumer(
      RocketMqConfig config, int worker, Endpoint endpoint, int pullThreads, long nowNanos) {
    DefaultLitePullConsumer consumer =
        new DefaultLitePullConsumer(config.consumerGroup(), RocketMqAccess.hook(config));
    consumer.setNamesrvAddr(config.nameServer());
    RocketMqAccess.secure(consumer, config);
    consumer.setInstanceName(
        Announcement.instance(
            ProcessHandle.current().pid() + "-" + nowNanos + "-" + worker, endpoint));
    consumer.setAutoCommit(false);
    // The client decompresses without a limit, and drops the whole pull if it cannot read one body.
    consumer.setDecodeDecompressBody(false);
    consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    consumer.setPullThreadNums(pullThreads);
    boolean batches = config.messages().equals(RocketMqConfig.SPAN_BATCH);
    consumer.setPullBatchSize(batches ? PULL_BATCH : PULL_SPANS);
    consumer.setPullThresholdForQueue(
        batches ? MAX_CACHED_MESSAGES_PER_QUEUE : MAX_CACHED_SPANS_PER_QUEUE);
    // Range of cached offsets, 2,000 by default: with messages of one span a queue would reach it
    // after two pulls. At each limit the client waits for 50 ms.
    consumer.setConsumeMaxSpan(MAX_CACHED_SPANS_PER_QUEUE);
    consumer.setPullThresholdSizeForQueue(MAX_CACHED_MIB_PER_QUEUE);
    consumer.setPullThresholdForAll(batches ? MAX_CACHED_MESSAGES : MAX_CACHED_SPANS);
    consumer.setPollNameServerInterval(ROUTE_POLL_MILLIS);
    consumer.setOffsetStore(
        new ExplicitOffsetStore(
            new RemoteBrokerOffsetStore(client(consumer, config), config.consumerGroup())));
    return consumer;
  }

  /** Returns the consumer's own connection to the brokers; each client identity has one. */
  private static MQClientInstance client(DefaultLitePullConsumer consumer, RocketMqConfig config) {
    return MQClientManager.getInstance()
        .getOrCreateMQClientInstance(consumer, RocketMqAccess.hook(config));
  }

  /** Returns the offsets of a started consumer that this class created. */
  static BrokerOffsets offsets(DefaultLitePullConsumer consumer, RocketMqConfig config) {
    return new RocketMqOffsets(
        client(consumer, config), consumer.getOffsetStore(), config.consumerGroup());
  }

  @Override
  public int queueCount() throws MQClientException {
    return consumer.fetchMessageQueues(topic).size();
  }

  @Override
  public List<MessageExt> poll(long timeoutMillis) {
    return consumer.poll(timeoutMillis);
  }

  @Override
  public void pause(MessageQueue queue) {
    consumer.pause(Set.of(queue));
  }

  @Override
  public void seek(MessageQueue queue, long offset, String comparedAt) throws MQClientException {
    resumed.sought(queue, offset, comparedAt);
    consumer.resume(Set.of(queue));
    consumer.seek(queue, offset);
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
  public void rebalance() {
    client.doRebalance();
  }

  @Override
  public void close() {
    consumer.shutdown();
  }
}
