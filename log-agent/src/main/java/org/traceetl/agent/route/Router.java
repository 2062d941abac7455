package org.traceetl.agent.route;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.traceetl.agent.config.RoutingConfig;

/** Gives each application its route, by configuration. Immutable. */
public final class Router {
  private final RoutingConfig config;

  public Router(RoutingConfig config) {
    this.config = config;
  }

  /**
   * The route of an application. Sorts all queues: callers keep what they get.
   *
   * @param topology not empty
   */
  public Route route(byte[] name, int offset, int length, Topology topology) {
    RoutingConfig.Rule rule = config.rule(new String(name, offset, length, UTF_8));
    return new Route(
        RouteHash.application(name, offset, length), topology, rule.queues(), rule.spread());
  }
}
