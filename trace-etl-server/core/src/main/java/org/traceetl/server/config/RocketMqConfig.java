package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.canonical;
import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.checkReadable;
import static org.traceetl.common.ConfigException.orElse;

import java.nio.file.Path;
import org.traceetl.common.Secret;

/**
 * The source of the spans: {@code trace-etl.rocketmq}. A missing value is its default.
 *
 * @param nameServer RocketMQ's name servers as {@code host:port;host:port}
 * @param topic topic of the span batches; must exist
 * @param consumerGroup consumer group; its members share the topic's queues
 * @param accessKey name for the broker's access control, together with {@code secret-key}
 * @param secretKey secret of {@code access-key}
 * @param workers threads that pull and aggregate, each with its own queues; 1 to 1024; more than
 *     the topic has queues are idle
 * @param tls whether connections to name servers and brokers use TLS. Their certificates must lead
 *     to a known root; host names are not compared, so use a root of your own. If it cannot be set
 *     up, the program does not start
 * @param tlsCaFile PEM file of those roots; none: those of the JVM. A client certificate is set by
 *     {@code -Dtls.client.certPath} and {@code -Dtls.client.keyPath}
 * @param messages format of the messages: {@code span-batch} of {@code log-agent}, the format of a
 *     profile, or {@code any} of these, distinguished by their first bytes
 */
public record RocketMqConfig(
    String nameServer,
    String topic,
    String consumerGroup,
    String accessKey,
    Secret secretKey,
    Integer workers,
    Boolean tls,
    Path tlsCaFile,
    String messages) {
  /** Messages are batches of spans from log-agent. */
  public static final String SPAN_BATCH = "span-batch";

  /** Messages are batches or single spans, distinguished by their first bytes. */
  public static final String ANY = "any";

  private static final String PREFIX = "trace-etl.rocketmq.";
  private static final String NAME_SERVERS = "[^\\s;]+:\\d{1,5}(;[^\\s;]+:\\d{1,5})*;?";
  private static final int MAX_WORKERS = 1_024;

  /** In the clear. */
  public RocketMqConfig(
      String nameServer,
      String topic,
      String consumerGroup,
      String accessKey,
      Secret secretKey,
      Integer workers) {
    this(nameServer, topic, consumerGroup, accessKey, secretKey, workers, null, null, null);
  }

  public RocketMqConfig {
    nameServer = orElse(nameServer, "127.0.0.1:9876");
    topic = orElse(topic, "trace-spans");
    consumerGroup = orElse(consumerGroup, "trace-etl-server");
    accessKey = orElse(accessKey, "");
    secretKey = secretKey == null || secretKey.value().isEmpty() ? null : secretKey;
    tls = orElse(tls, false);
    messages = canonical(orElse(messages, SPAN_BATCH));
    workers = orElse(workers, Runtime.getRuntime().availableProcessors());
    check(
        nameServer.matches(NAME_SERVERS),
        PREFIX + "name-server",
        nameServer,
        "must be host:port, or several separated by ;");
    check(!topic.isBlank(), PREFIX + "topic", topic, "must be the name of a topic");
    check(
        !consumerGroup.isBlank(),
        PREFIX + "consumer-group",
        consumerGroup,
        "must be the name of a consumer group");
    check(
        accessKey.isEmpty() == (secretKey == null),
        PREFIX + "access-key",
        accessKey,
        "must be configured together with a secret-key");
    checkRange(PREFIX + "workers", workers, 1, MAX_WORKERS);
    check(tls || tlsCaFile == null, PREFIX + "tls-ca-file", tlsCaFile, "requires tls: true");
    checkReadable(PREFIX + "tls-ca-file", tlsCaFile, "a readable file of certificates");
  }
}
