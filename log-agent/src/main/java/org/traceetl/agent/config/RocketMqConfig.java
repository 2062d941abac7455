package org.traceetl.agent.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The broker to publish to.
 *
 * @param nameServer addresses of the name servers, {@code host:port}, separated by {@code ;}
 * @param topic topic of the span batches
 * @param producerGroup name of the agents' group at the broker
 * @param accessKey empty when the broker asks for none
 * @param secretKey empty when the broker asks for none; never printed
 * @param sendTimeoutMillis an attempt without an answer has failed after this time
 * @param retryFirstMillis wait after the first failure; each further one doubles it
 * @param retryMaxMillis longest wait between attempts
 * @param routeRefreshMillis how often the topic's queues are asked for
 * @param tls how connections are made; empty: in the clear
 */
public record RocketMqConfig(
    String nameServer,
    String topic,
    String producerGroup,
    String accessKey,
    String secretKey,
    int sendTimeoutMillis,
    int retryFirstMillis,
    int retryMaxMillis,
    int routeRefreshMillis,
    Optional<Tls> tls) {
  /**
   * TLS to the name servers and brokers.
   *
   * @param caFile PEM: roots that their certificates must lead to; empty: those of the JVM
   */
  public record Tls(Optional<Path> caFile) {}

  /** In the clear. */
  public RocketMqConfig(
      String nameServer,
      String topic,
      String producerGroup,
      String accessKey,
      String secretKey,
      int sendTimeoutMillis,
      int retryFirstMillis,
      int retryMaxMillis,
      int routeRefreshMillis) {
    this(
        nameServer,
        topic,
        producerGroup,
        accessKey,
        secretKey,
        sendTimeoutMillis,
        retryFirstMillis,
        retryMaxMillis,
        routeRefreshMillis,
        Optional.empty());
  }

  /** A name server on this host, topic {@code trace-spans}, no keys. */
  public static RocketMqConfig defaults() {
    return new RocketMqConfig(
        "127.0.0.1:9876", "trace-spans", "log-agent", "", "", 3_000, 100, 5_000, 10_000);
  }

  /** The same, at other name servers. */
  public RocketMqConfig withNameServer(String other) {
    return new RocketMqConfig(
        other,
        topic,
        producerGroup,
        accessKey,
        secretKey,
        sendTimeoutMillis,
        retryFirstMillis,
        retryMaxMillis,
        routeRefreshMillis,
        tls);
  }

  @Override
  public String toString() {
    return "RocketMqConfig[nameServer=" + nameServer + ", topic=" + topic + "]";
  }
}
