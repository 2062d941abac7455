package org.traceetl.agent.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * What decides an application's queues.
 *
 * @param keys the rules of the agent's own configuration, beneath those of the file
 * @param file the routing file, if there is one
 * @param hotspots whether the servers' decisions on hotspots are followed
 * @param learntNames whether the names that servers have learnt are followed
 * @param hotspotsTopic where both stand
 * @param publicKeysFile PEM: keys of the servers; records without a signature of one are refused
 * @param rerouteAfterSeconds new spans leave a broker that has been away for this long
 */
public record RoutingConfig(
    RoutingRules keys,
    Optional<WatchedFile> file,
    boolean hotspots,
    boolean learntNames,
    String hotspotsTopic,
    Optional<Path> publicKeysFile,
    int rerouteAfterSeconds) {
  /** The default rules, no file; decisions and learnt names are followed. */
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
