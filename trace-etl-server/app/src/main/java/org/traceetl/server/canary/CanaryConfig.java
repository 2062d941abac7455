package org.traceetl.server.canary;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.checkReadable;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The configuration of a canary. Names in messages are those of the command's options.
 *
 * @param http the agent's OTLP/HTTP; null: no spans are sent by it
 * @param grpc the agent's OTLP/gRPC; null: no spans are sent by it
 * @param ring the agent's directory of rings; null: no spans are sent by it
 * @param list any server, whose {@code /api/targets} lists all; null for fixed servers
 * @param servers the fixed servers
 * @param isIndexRead whether the servers' {@code /api/traces} must return failed and slow spans
 * @param prometheus null if it is not read
 * @param application {@code service.name} of the spans
 * @param metric counter of spans
 * @param interval between steps: sending, reading and comparing
 * @param deadline how late spans may be
 * @param lostAfter after which missing spans count as lost
 * @param agentToken file with the token for the agent; null for none
 * @param serverToken file with the token for the servers; null for none
 * @param caFile CA certificates of agents, servers and Prometheus as PEM; null: those of the JVM
 * @param address of the canary's own port; null: all addresses
 * @param port of metrics and health; 0 takes a free one
 */
public record CanaryConfig(
    URI http,
    URI grpc,
    Path ring,
    URI list,
    List<URI> servers,
    boolean isIndexRead,
    URI prometheus,
    String application,
    String metric,
    Duration interval,
    Duration deadline,
    Duration lostAfter,
    Path agentToken,
    Path serverToken,
    Path caFile,
    String address,
    int port) {
  private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
  private static final Duration MAX_INTERVAL = Duration.ofMinutes(5);
  private static final Duration MAX_DEADLINE = Duration.ofHours(1);
  private static final Duration MAX_LOST_AFTER = Duration.ofDays(7);
  private static final int MAX_PORT = 65_535;

  /**
   * @throws org.traceetl.common.ConfigException if a value is invalid
   */
  public CanaryConfig {
    servers = List.copyOf(servers);
    check(
        http != null || grpc != null || ring != null,
        "--agent-http",
        null,
        "required, unless --agent-grpc or --agent-ring is given: the address of an agent");
    check(
        list != null || !servers.isEmpty(),
        "--servers",
        null,
        "required, unless --server is given: the address of any server");
    checkUrl("--agent-http", http);
    checkUrl("--agent-grpc", grpc);
    checkUrl("--servers", list);
    servers.forEach(server -> checkUrl("--server", server));
    checkUrl("--prometheus", prometheus);
    check(!application.isBlank(), "--application", application, "must not be empty");
    check(
        metric.matches("[a-zA-Z_:][a-zA-Z0-9_:]*"),
        "--metric",
        metric,
        "must be the name of a counter of spans");
    checkRange("--interval", interval, MIN_INTERVAL, MAX_INTERVAL, "must be 100ms to 5m");
    checkRange("--deadline", deadline, interval, MAX_DEADLINE, "must be --interval to 1h");
    checkRange("--lost-after", lostAfter, deadline, MAX_LOST_AFTER, "must be --deadline to 168h");
    checkReadable("--agent-token-file", agentToken, "a readable file");
    checkReadable("--server-token-file", serverToken, "a readable file");
    checkReadable("--ca-file", caFile, "a readable file of CA certificates as PEM");
    check(port >= 0 && port <= MAX_PORT, "--port", port, "must be 0 to 65535");
  }

  private static void checkUrl(String name, URI url) {
    check(
        url == null
            || url.getHost() != null
                && url.getUserInfo() == null
                && ("http".equals(url.getScheme()) || "https".equals(url.getScheme())),
        name,
        url,
        "must be http://host:port or https://host:port");
  }
}
