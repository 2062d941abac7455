package org.traceetl.agent.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The broker to publish to.
 *
 * @param nameServer RocketMQ's name servers as {@code host:port;host:port}
 * @param topic topic of the span batches; must exist
 * @param edgesTopic topic of the batches of half-edges; must exist once servers name queues for
 *     them
 * @param producerGroup the agents' producer group
 * @param accessKey name for the broker's access control, together with {@code rocketmq.secret-key}
 * @param secretKey secret of {@code rocketmq.access-key}
 * @param sendTimeoutMillis an attempt without an answer fails after this time; 100 to 60000
 * @param retryFirstMillis pause after the first failure, doubled after each further one; 1 to 60000
 * @param retryMaxMillis longest pause between attempts; 1 to 600000
 * @param routeRefreshMillis how often the topic's queues are requested; 1000 to 600000
 * @param tls whether connections to name servers and brokers use TLS. Their certificates must lead
 *     to a known root; host names are not compared, so use a root of your own. If it cannot be set
 *     up, the program does not start
 * @param bundles whether batches of a queue that wait at the same time share a message of at most
 *     256 KiB: {@code off}, never; {@code auto}, while the servers' demand says that all of them
 *     read bundles and is younger than 15 minutes
 * @param lingerMillis longest time that a batch waits for others of its queue while bundles are
 *     permitted and fewer than a full one wait; 0 to 10000. Senders do not wait, because the spool
 *     has the batch
 */
public record PublishConfig(
    String nameServer,
    String topic,
    String edgesTopic,
    String producerGroup,
    String accessKey,
    String secretKey,
    int sendTimeoutMillis,
    int retryFirstMillis,
    int retryMaxMillis,
    int routeRefreshMillis,
    Optional<Tls> tls,
    Bundles bundles,
    int lingerMillis) {
  private static final String EDGES_TOPIC = "trace-edges";
  private static final int LINGER_MILLIS = 100;

  /** When several batches of a queue share a message. */
  public enum Bundles {
    /** Never. */
    OFF,
    /** While the servers' demand says that all of them read bundles. */
    AUTO
  }

  /**
   * TLS to the name servers and brokers.
   *
   * @param caFile PEM file of those roots; none: those of the JVM. A client certificate is set by
   *     {@code -Dtls.client.certPath} and {@code -Dtls.client.keyPath}
   */
  public record Tls(Optional<Path> caFile) {}

  /** Creates a configuration with topic {@code trace-edges}, without TLS. */
  public PublishConfig(
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
        EDGES_TOPIC,
        producerGroup,
        accessKey,
        secretKey,
        sendTimeoutMillis,
        retryFirstMillis,
        retryMaxMillis,
        routeRefreshMillis,
        Optional.empty(),
        Bundles.AUTO,
        LINGER_MILLIS);
  }

  /** Returns a name server on this host and topic {@code trace-spans}, without keys. */
  public static PublishConfig defaults() {
    return new PublishConfig(
        "127.0.0.1:9876", "trace-spans", "log-agent", "", "", 3_000, 100, 5_000, 10_000);
  }

  @Override
  public String toString() {
    return "PublishConfig[nameServer=" + nameServer + ", topic=" + topic + "]";
  }
}
