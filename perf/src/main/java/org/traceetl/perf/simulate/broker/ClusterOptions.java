package org.traceetl.perf.simulate.broker;

import java.time.Duration;

/**
 * The installation of a {@link SimulatedCluster}. Classes and keys are those of RocketMQ 5.5.0.
 *
 * @param brokers number of broker names; they are {@code broker-1} and so on
 * @param replicas of each broker name; with more than 1, controllers elect the master,
 *     allAckInSyncStateSet is true and minInSyncReplicas is 2
 * @param queues of the topics of spans and journal on each broker
 * @param edgeQueues at the start, of the topics of half-edges and their journal on each broker; 0:
 *     these topics do not exist
 * @param spanTopic topic of the spans
 * @param journalTopic topic of the journal
 * @param decisionsTopic topic of the servers' decisions, with one queue on each broker
 * @param syncFlush whether SEND_OK requires that the master's disk has the message: SYNC_FLUSH. A
 *     single broker also lets consumers read only what its disk has (CommitLog.getConfirmOffset)
 * @param readUncommitted whether consumers read messages as soon as the master has stored them:
 *     readUnCommitted, and any single broker before 5.3.1 (RocketMQ's issue 8239). Otherwise
 *     replicated brokers show what all in-sync replicas have, flushed or not
 * @param memberExpiry after which a silent member leaves its group; channelExpiredTimeout
 * @param retention after which messages are deleted; fileReservedTime
 */
public record ClusterOptions(
    int brokers,
    int replicas,
    int queues,
    int edgeQueues,
    String spanTopic,
    String journalTopic,
    String decisionsTopic,
    boolean syncFlush,
    boolean readUncommitted,
    Duration memberExpiry,
    Duration retention) {
  private static final Duration MEMBER_EXPIRY = Duration.ofSeconds(40);

  public ClusterOptions {
    if (brokers < 1 || replicas < 1 || queues < 1 || edgeQueues < 0) {
      throw new IllegalArgumentException(
          "brokers = "
              + brokers
              + ", replicas = "
              + replicas
              + ", queues = "
              + queues
              + ", edgeQueues = "
              + edgeQueues);
    }
  }

  /**
   * Returns options with the default topics but those of half-edges, SYNC_FLUSH, and without reads
   * of what is not confirmed.
   */
  public static ClusterOptions of(int brokers, int replicas, int queues) {
    return new ClusterOptions(
        brokers,
        replicas,
        queues,
        0,
        "trace-spans",
        "trace-windows",
        "trace-routing",
        true,
        false,
        MEMBER_EXPIRY,
        Duration.ofHours(72));
  }

  /** Returns the same options with another retention. */
  public ClusterOptions keeping(Duration messages) {
    return with(edgeQueues, syncFlush, readUncommitted, messages);
  }

  /** Returns the same options with this number of queues of half-edges on each broker. */
  public ClusterOptions withEdgeQueues(int ofEach) {
    return with(ofEach, syncFlush, readUncommitted, retention);
  }

  /** Returns the same options with other rules of when messages are confirmed and readable. */
  public ClusterOptions with(boolean flushesFirst, boolean readsAtOnce) {
    return with(edgeQueues, flushesFirst, readsAtOnce, retention);
  }

  private ClusterOptions with(
      int ofEdges, boolean flushesFirst, boolean readsAtOnce, Duration keeps) {
    return new ClusterOptions(
        brokers,
        replicas,
        queues,
        ofEdges,
        spanTopic,
        journalTopic,
        decisionsTopic,
        flushesFirst,
        readsAtOnce,
        memberExpiry,
        keeps);
  }
}
