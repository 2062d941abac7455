package org.traceetl.server.consume;

import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore;
import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.rocketmq.Announcement;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.rocketmq.RocketMqAccess;

/** Makes the workers' RocketMQ consumers. */
final class SpanConsumers {
  /**
   * A pull waits at the broker, and keeps its thread, until there is a message or some seconds have
   * passed: with fewer threads than queues, silent queues would hold up the others.
   */
  static final int MIN_PULL_THREADS = 32;

  private static final int PULL_BATCH = 32;

  /**
   * Of messages of one span. Brokers give 32 a pull unless their maxTransferCountOnMessageInMemory
   * says more; 1,024 is the most that the client may ask for.
   */
  private static final int PULL_SPANS = 1_024;

  private static final int MAX_CACHED_MESSAGES_PER_QUEUE = 512;

  /** Of messages of one span: what the bytes per queue have room for. */
  private static final int MAX_CACHED_SPANS_PER_QUEUE = 8_192;

  /**
   * A tenth of a second at a million spans a second from four queues. More would live through young
   * collections, and with many queues not fit into the heap.
   */
  private static final int MAX_CACHED_MIB_PER_QUEUE = 4;

  private static final int MAX_CACHED_MESSAGES = 4_096;
  private static final int MAX_CACHED_SPANS = 65_536;
  private static final int ROUTE_POLL_MILLIS = 5_000;

  private SpanConsumers() {}

  /**
   * A consumer that is not started, with a client identity of its own.
   *
   * @param endpoint what its name announces; null for nothing
   * @param pullThreads how many queues it can wait for at a time; cannot be changed later
   * @param nowNanos makes its identity differ from those of earlier processes
   */
  static DefaultLitePullConsumer newConsumer(
      RocketMqConfig config, int worker, Endpoint endpoint, int pullThreads, long nowNanos) {
    DefaultLitePullConsumer consumer =
        new DefaultLitePullConsumer(config.consumerGroup(), RocketMqAccess.hook(config));
    consumer.setNamesrvAddr(config.nameServer());
    RocketMqAccess.secure(consumer, config);
    consumer.setInstanceName(
        Announcement.instance(
            ProcessHandle.current().pid() + "-" + nowNanos + "-" + worker, endpoint));
    consumer.setAutoCommit(false);
    // The client inflates without a bound, and drops all that it pulled for one body it cannot
    // read.
    consumer.setDecodeDecompressBody(false);
    consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    consumer.setPullThreadNums(pullThreads);
    boolean batches = config.messages().equals(RocketMqConfig.SPAN_BATCH);
    consumer.setPullBatchSize(batches ? PULL_BATCH : PULL_SPANS);
    consumer.setPullThresholdForQueue(
        batches ? MAX_CACHED_MESSAGES_PER_QUEUE : MAX_CACHED_SPANS_PER_QUEUE);
    // From the first to the last that is cached, 2,000 by default: with messages of one span a
    // queue would be at it after two pulls, and at each limit the client waits for 50 ms.
    consumer.setConsumeMaxSpan(MAX_CACHED_SPANS_PER_QUEUE);
    consumer.setPullThresholdSizeForQueue(MAX_CACHED_MIB_PER_QUEUE);
    consumer.setPullThresholdForAll(batches ? MAX_CACHED_MESSAGES : MAX_CACHED_SPANS);
    consumer.setPollNameServerInterval(ROUTE_POLL_MILLIS);
    consumer.setOffsetStore(
        new ExplicitOffsetStore(
            new RemoteBrokerOffsetStore(client(consumer, config), config.consumerGroup())));
    return consumer;
  }

  /** The offsets of a consumer made here, to be asked for after its start. */
  static BrokerOffsets offsets(DefaultLitePullConsumer consumer, RocketMqConfig config) {
    return new RocketMqOffsets(
        client(consumer, config), consumer.getOffsetStore(), config.consumerGroup());
  }

  /** Notes where the pulls of a consumer made here go on after a failure. After its start. */
  static ResumedPulls resumedPulls(DefaultLitePullConsumer consumer, RocketMqConfig config) {
    ResumedPulls resumed = new ResumedPulls();
    client(consumer, config).getMQClientAPIImpl().getRemotingClient().registerRPCHook(resumed);
    return resumed;
  }

  /**
   * Rebalances on this thread. Only while RocketMQ's own thread does not, because a rebalance does
   * not expect another one beside it.
   */
  static void rebalance(DefaultLitePullConsumer consumer, RocketMqConfig config) {
    client(consumer, config).doRebalance();
  }

  /** What the consumer itself talks to the brokers with: one for each client identity. */
  private static MQClientInstance client(DefaultLitePullConsumer consumer, RocketMqConfig config) {
    return MQClientManager.getInstance()
        .getOrCreateMQClientInstance(consumer, RocketMqAccess.hook(config));
  }
}
