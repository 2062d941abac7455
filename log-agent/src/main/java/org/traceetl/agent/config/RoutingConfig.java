package org.traceetl.agent.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How an application's queues are chosen.
 *
 * @param keys the rules of the configuration; those of the file precede them
 * @param file path of the routing file, which takes precedence over the {@code routing} keys
 *     before. Reloaded
 * @param hotspots whether the agent follows the servers' hotspot decisions; it keeps the last ones
 *     in {@code state-directory}
 * @param learntNames whether spans with names that servers join go to one queue; the last rules are
 *     kept in {@code state-directory}
 * @param hotspotsTopic topic of the servers' decisions, their {@code hotspots.topic}; need not
 *     exist. Read by the group {@code rocketmq.producer-group}: create it if the broker does not
 *     create groups
 * @param publicKeysFile PEM file of the servers' public keys (Ed25519). Records without a signature
 *     of one of them are refused. Read at each poll of the topic; while it is invalid, no new
 *     record is followed. None: all records are followed
 * @param rerouteAfterSeconds new spans leave a broker that is unavailable for this long; 1 to
 *     86400. They leave at once if its batches exceed an equal share of the spool, and return when
 *     the broker answers and its batches are below half of that share
 */
public record RoutingConfig(
    RoutingRules keys,
    Optional<WatchedFile> file,
    boolean hotspots,
    boolean learntNames,
    String hotspotsTopic,
    Optional<Path> publicKeysFile,
    int rerouteAfterSeconds) {
  /** Returns the default rules without a file; decisions and learnt names are followed. */
  public static RoutingConfig defaults() {
    return new RoutingConfig(
        RoutingRules.defaults(),
        Optional.empty(),
        true,
        true,
        "trace-routing",
        Optional.empty(),
        60);
  }
}
