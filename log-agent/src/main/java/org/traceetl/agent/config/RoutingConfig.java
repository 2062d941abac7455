package org.traceetl.agent.config;

import java.util.Optional;

/**
 * What decides an application's queues.
 *
 * @param keys the rules of the agent's own configuration, beneath those of the file
 * @param file the routing file, if there is one
 * @param hotspots whether the servers' decisions on hotspots are followed
 * @param hotspotsTopic where they stand
 */
public record RoutingConfig(
    RoutingRules keys, Optional<WatchedFile> file, boolean hotspots, String hotspotsTopic) {
  /** The default rules, no file; decisions are followed. */
  public static RoutingConfig defaults() {
    return new RoutingConfig(RoutingRules.defaults(), Optional.empty(), true, "trace-routing");
  }
}
