package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.canonical;
import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where the spans come from: {@code trace-etl.rocketmq}. A missing value is its default.
 *
 * @param nameServer addresses {@code host:port}, separated by semicolons
 * @param topic topic of the span batches
 * @param consumerGroup servers of one group share the topic's queues
 * @param accessKey name for the broker's access control; empty where it has none
 * @param secretKey belongs to {@code accessKey}; null where there is none
 * @param workers threads that pull and aggregate, each with queues of its own; default: processors
 * @param tls whether name servers and brokers are spoken to with TLS
 * @param tlsCaFile PEM: roots that their certificates must lead to; null: those of the JVM
 * @param messages what the topic's messages are: {@link #SPAN_BATCH}, {@link #ANY}, or the name of
 *     a format of single spans; default {@link #SPAN_BATCH}
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
  /** Messages are batches of spans, as log-agent publishes them. */
  public static final String SPAN_BATCH = "span-batch";

  /** Messages are batches or single spans, told apart by their first bytes. */
  public static final String ANY = "any";

  private static final String PREFIX = "trace-etl.rocketmq.";
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
    check(!nameServer.isBlank(), PREFIX + "name-server", nameServer, "must be host:port");
    check(!topic.isBlank(), PREFIX + "topic", topic, "must name a topic");
    check(!consumerGroup.isBlank(), PREFIX + "consumer-group", consumerGroup, "must name a group");
    check(
        accessKey.isEmpty() == (secretKey == null),
        PREFIX + "access-key",
        accessKey,
        "must come with a secret-key, and not without one");
    check(
        workers >= 1 && workers <= MAX_WORKERS,
        PREFIX + "workers",
        workers,
        "must be 1 to " + MAX_WORKERS);
    check(tls || tlsCaFile == null, PREFIX + "tls-ca-file", tlsCaFile, "needs tls: true");
    check(
        tlsCaFile == null || Files.isReadable(tlsCaFile),
        PREFIX + "tls-ca-file",
        tlsCaFile,
        "must be a file of certificates that can be read");
  }
}
