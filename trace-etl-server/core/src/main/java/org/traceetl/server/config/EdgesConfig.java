package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.traceetl.proto.Demand;

/**
 * The half-edges, of which servers make the service graph: {@code trace-etl.edges}. A missing value
 * is its default.
 *
 * @param enabled whether this server reads half-edges; agents send them while all servers do. Needs
 *     {@code demand.enabled}
 * @param topic topic of the half-edges, the agents' {@code rocketmq.edges-topic}; must exist. The
 *     same on all servers
 * @param journalTopic topic of the journal of half-edges; must exist, with as many queues as {@code
 *     edges.topic} on the same brokers. The same on all servers
 * @param consumerGroup consumer group that shares the queues of half-edges; by default the name of
 *     {@code rocketmq.consumer-group} with {@code -edges}
 * @param maxWait how long a half-edge waits for the other half of its edge; measured in the store
 *     times of the queue's messages; 1 s to 10 min. The same on all servers
 * @param maxOpen half-edges of a queue that wait at the same time; further ones are refused and
 *     counted; 1 to 2097152, each of about 90 bytes. The same on all servers
 * @param workers threads that read half-edges, each with its own queues; 1 to 64; more than the
 *     topic has queues are idle
 * @param maxEdges edges of the last hour that {@code /api/services} lists; further ones are added
 *     up as one for each client; 1 to 1000000. A busy edge takes 2 to 6 KB with default buckets
 * @param dimensions attributes of the span, else of its resource, at either end of an edge, at most
 *     8; labels are {@code client_} and {@code server_} with the key and {@code _} for other
 *     characters. Agents send them on demand. The same on all servers
 */
public record EdgesConfig(
    Boolean enabled,
    String topic,
    String journalTopic,
    String consumerGroup,
    Duration maxWait,
    Integer maxOpen,
    Integer workers,
    Integer maxEdges,
    List<String> dimensions) {
  /** Begin of the labels of a client's dimensions. */
  public static final String CLIENT_PREFIX = "client_";

  /** Begin of the labels of a server's dimensions. */
  public static final String SERVER_PREFIX = "server_";

  private static final String PREFIX = "trace-etl.edges.";
  private static final String GROUP_SUFFIX = "-edges";
  private static final Duration MIN_WAIT = Duration.ofSeconds(1);
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);

  /** The highest capacity of a table of half-edges. */
  private static final int MOST_OPEN = 1 << 21;

  private static final int MOST_WORKERS = 64;
  private static final int MOST_EDGES = 1_000_000;

  public EdgesConfig {
    enabled = orElse(enabled, false);
    topic = orElse(topic, "trace-edges");
    journalTopic = orElse(journalTopic, "trace-edge-windows");
    maxWait = orElse(maxWait, Duration.ofSeconds(30));
    maxOpen = orElse(maxOpen, 200_000);
    workers = orElse(workers, 1);
    maxEdges = orElse(maxEdges, 50_000);
    dimensions = List.copyOf(orElse(dimensions, List.of()));
    check(!topic.isBlank(), PREFIX + "topic", topic, "must be the name of a topic");
    check(
        !journalTopic.isBlank() && !journalTopic.equals(topic),
        PREFIX + "journal-topic",
        journalTopic,
        "must be the name of a topic, and not trace-etl.edges.topic");
    check(
        consumerGroup == null || !consumerGroup.isBlank(),
        PREFIX + "consumer-group",
        consumerGroup,
        "must be the name of a consumer group");
    checkRange(PREFIX + "max-wait", maxWait, MIN_WAIT, LONGEST_WAIT, "must be 1 s to 10 min");
    checkRange(PREFIX + "max-open", maxOpen, 1, MOST_OPEN);
    checkRange(PREFIX + "workers", workers, 1, MOST_WORKERS);
    checkRange(PREFIX + "max-edges", maxEdges, 1, MOST_EDGES);
    checkDimensions(dimensions);
  }

  private static void checkDimensions(List<String> dimensions) {
    String key = PREFIX + "dimensions";
    check(
        dimensions.size() <= Demand.MAX_EDGE_KEYS,
        key,
        dimensions.size() + " of them",
        "must be at most " + Demand.MAX_EDGE_KEYS);
    Set<String> labels = new HashSet<>();
    for (String attribute : dimensions) {
      check(
          Demand.takesText(attribute),
          key,
          attribute,
          "must be the key of an attribute, of 1 to " + Demand.MAX_TEXT_BYTES + " bytes of UTF-8");
      String label = MetricsConfig.underscored(attribute);
      check(
          labels.add(label),
          key,
          attribute,
          "must not have the labels of another one: " + CLIENT_PREFIX + label);
    }
  }

  public static EdgesConfig defaults() {
    return new EdgesConfig(null, null, null, null, null, null, null, null, null);
  }

  /** Returns the source of the half-edges: the brokers of the spans, with the values here. */
  public RocketMqConfig source(RocketMqConfig spans) {
    return new RocketMqConfig(
        spans.nameServer(),
        topic,
        orElse(consumerGroup, spans.consumerGroup() + GROUP_SUFFIX),
        spans.accessKey(),
        spans.secretKey(),
        workers,
        spans.tls(),
        spans.tlsCaFile(),
        null);
  }
}
